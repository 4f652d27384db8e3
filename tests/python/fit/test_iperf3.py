"""`iperf3 --json`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from airtcp.fit import detect
from airtcp.fit.measurement import Measurement
from airtcp.fit.readers import FileError

Read = Callable[[str], Measurement]
MSS = 1448


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(text: str) -> Measurement:
        path = tmp_path / "result.json"
        path.write_text(text)
        return detect.read(path)

    return read


def start(**options: Any) -> dict[str, Any]:
    options = {"protocol": "TCP", "num_streams": 1, "blksize": 131072, "reverse": 0, **options}
    return {"version": "iperf 3.16", "tcp_mss_default": MSS, "test_start": options}


def part(at_s: float, mbps: float, *, sender: bool = True, **more: Any) -> dict[str, Any]:
    return {
        "socket": 5, "start": at_s, "end": at_s + 1, "seconds": 1.0, "bytes": int(mbps * 125e3),
        "bits_per_second": mbps * 1e6, "omitted": False, "sender": sender, **more,
    }  # fmt: skip


def interval(at_s: float, mbps: float, *, sender: bool = True, **more: Any) -> dict[str, Any]:
    total = {key: value for key, value in more.items() if key != "rtt"}
    return {
        "streams": [part(at_s, mbps, sender=sender, **more)],
        "sum": part(at_s, mbps, sender=sender, **total),
    }


def tcp() -> dict[str, Any]:
    return {
        "start": start(),
        "intervals": [
            interval(0, 99, retransmits=7, rtt=90_000) | {"sum": part(0, 99) | {"omitted": True}},
            interval(0, 8, retransmits=2, rtt=50_000),
            interval(1, 12, retransmits=3, rtt=70_000),
        ],
        "end": {
            "streams": [{"sender": {"min_rtt": 42_000, "retransmits": 5}, "receiver": {}}],
            "sum_sent": {"bits_per_second": 10e6, "retransmits": 5},
            "sum_received": {"bits_per_second": 9e6},
            "sender_tcp_congestion": "cubic",
        },
    }


def check_tcp(found: Measurement) -> None:
    (throughput,) = found.throughput
    assert_allclose(throughput.rate_bps, [8e6 * 1500 / MSS, 12e6 * 1500 / MSS])
    assert_allclose(throughput.time_s, [0, 1])
    assert throughput.rtt_s is not None
    assert_allclose(throughput.rtt_s, [0.05, 0.07])
    assert (throughput.direction, throughput.is_capacity) == ("forward", False)
    assert found.transfer is not None
    assert found.transfer.data_packets == -(-20_000_000 // (8 * MSS))
    assert found.transfer.retransmissions == 5


def test_tcp(read: Read) -> None:
    found = read(json.dumps(tcp(), indent="\t"))
    check_tcp(found)
    assert found.format == "iperf3 (TCP)"
    assert found.round_trips is not None
    assert found.round_trips.least_s == 0.042
    assert found.transfer is not None
    assert (found.transfer.congestion_control, found.transfer.mss_bytes) == ("cubic", MSS)
    assert found.skipped is None


def test_a_stream_of_events(read: Read) -> None:
    result = tcp()
    events = [{"event": "start", "data": result["start"]}]
    events += [{"event": "interval", "data": part} for part in result["intervals"]]
    events += [{"event": "end", "data": result["end"]}]
    check_tcp(read("\n".join(json.dumps(event) for event in events)))


def test_of_a_result_that_breaks_off_the_intervals_are_used(read: Read) -> None:
    text = json.dumps(tcp(), indent="\t")
    found = read(text[: text.index('"sender_tcp_congestion"') - 200])
    assert_allclose(found.throughput[0].time_s, [0, 1])
    assert found.transfer is not None
    assert found.transfer.retransmissions == 5
    assert "breaks off" in found.notes[0]


def test_several_streams_count_together(read: Read) -> None:
    result = tcp()
    result["intervals"] = [
        {"streams": [part(0, 3, retransmits=1, rtt=40_000), part(0, 5, retransmits=1, rtt=60_000)]}
    ]
    found = read(json.dumps(result))
    assert_allclose(found.throughput[0].rate_bps, [8e6 * 1500 / MSS])
    assert found.throughput[0].rtt_s is not None
    assert_allclose(found.throughput[0].rtt_s, [0.05])


def test_reverse_is_the_way_of_the_data(read: Read) -> None:
    result = tcp()
    result["start"] = start(reverse=1)
    result["intervals"] = [interval(0, 8, sender=False)]
    found = read(json.dumps(result))
    assert found.throughput[0].direction == "forward"
    assert found.throughput[0].rtt_s is None
    assert found.transfer is not None
    assert found.transfer.retransmissions == 5
    assert "--reverse" in found.notes[0]


def test_both_ways_at_once(read: Read) -> None:
    result = tcp()
    both = interval(0, 8, retransmits=1, rtt=50_000)
    both["streams"].append(part(0, 20, sender=False))
    both["sum_bidir_reverse"] = part(0, 20, sender=False)
    result["intervals"] = [both]
    found = read(json.dumps(result))
    assert [way.direction for way in found.throughput] == ["forward", "reverse"]
    assert_allclose(found.throughput[1].rate_bps, [20e6 * 1500 / MSS])
    assert found.throughput[1].rtt_s is None


def test_udp(read: Read) -> None:
    udp = {"lost_packets": 30, "packets": 1000, "jitter_ms": 0.7}
    result = {
        "start": start(protocol="UDP", blksize=1400, target_bitrate=10_000_000),
        "intervals": [interval(0, 10, packets=500), interval(1, 10, packets=500)],
        "end": {"streams": [{"udp": {**udp, "out_of_order": 4}}], "sum": udp},
    }
    found = read(json.dumps(result))
    assert found.format == "iperf3 (UDP)"
    (count,) = found.loss_counts
    assert (count.packets, count.lost, count.packet_bytes) == (1000, 30, 1428)
    assert (found.reordering[0].packets, found.reordering[0].late) == (1000, 4)
    assert found.transfer is None
    assert "10 Mbit/s" in " ".join(found.notes)


def test_losses_of_udp_that_are_taken_back(read: Read) -> None:
    result = {
        "start": start(protocol="UDP", blksize=1400, reverse=1),
        "intervals": [
            interval(0, 10, sender=False, packets=500, lost_packets=9),
            interval(1, 10, sender=False, packets=500, lost_packets=-4),
        ],
        "end": {},
    }
    assert read(json.dumps(result)).loss_counts[0].lost == 5


def test_several_tests_are_joined(read: Read) -> None:
    found = read(json.dumps(tcp()) + "\n" + json.dumps(tcp()))
    assert_allclose(found.throughput[0].time_s, [0, 1, 2, 3])
    assert found.transfer is not None
    assert found.transfer.retransmissions == 10


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            json.dumps({"start": start(), "intervals": [], "end": {}, "error": "unable to connect"}),
            "measured nothing: unable to connect",
        ),
        (json.dumps({"start": start(), "intervals": [], "end": {}}), "no interval"),
        ("[ ID] Interval           Transfer     Bitrate\n[  5] 0.00-1.00 sec 1 MBytes", "--json"),
        ('{"event":"start","data":{"version":"iperf 3.17"}}\n{"event":"error","data":"busy"}', "busy"),
    ],
)
def test_what_measured_nothing_is_refused(read: Read, text: str, why: str) -> None:
    with pytest.raises(FileError, match=why):
        read(text)


def test_what_only_filled_the_sender_s_buffer_is_not_what_the_path_carried(read: Read) -> None:
    mbps = enumerate([16, 8, 8, 8])
    intervals = [{"start": n, "seconds": 1.0, "bits_per_second": 1e6 * rate} for n, rate in mbps]
    result = {
        "start": {"version": "iperf 3.16", "test_start": {"protocol": "TCP"}},
        "intervals": [{"streams": [interval], "sum": interval} for interval in intervals],
        "end": {"sum_sent": {"bytes": 5e6, "retransmits": 0}, "sum_received": {"bytes": 4e6}},
    }
    (there,) = read(json.dumps(result)).throughput
    assert_allclose(there.rate_bps / there.rate_bps[0], [1, 1, 1, 1])


def bidir(protocol: str, there: list[float], back: list[float], streams: int) -> dict[str, Any]:
    """Rates in Mbit/s; without loss there, and 3 of 100 packets lost on the way back."""
    intervals: list[dict[str, Any]] = []
    for at_s, rates in enumerate(zip(there, back, strict=True)):
        more: list[dict[str, Any]] = [{"retransmits": 1, "rtt": 50_000}, {}]
        if protocol == "UDP":
            more = [{"packets": 100}, {"packets": 100, "lost_packets": 3}]
        sums = [
            part(at_s, rate, sender=place == 0, **(more[place] | {"rtt": 0}))
            for place, rate in enumerate(rates)
        ]
        each = [
            part(at_s, rate / streams, sender=place == 0, **more[place])
            for _ in range(streams)
            for place, rate in enumerate(rates)
        ]
        intervals.append({"streams": each, "sum": sums[0], "sum_bidir_reverse": sums[1]})
    end = {"sum_sent": part(0, 1, retransmits=9), "sum_sent_bidir_reverse": part(0, 1, sender=False)}
    return {"start": start(protocol=protocol, blksize=1400), "intervals": intervals, "end": end}


@given(
    protocol=st.sampled_from(["TCP", "UDP"]),
    mbps=st.lists(st.tuples(st.integers(1, 900), st.integers(1, 900)), min_size=1, max_size=5),
    streams=st.integers(1, 3),
    is_pretty=st.booleans(),
    is_server=st.booleans(),
)
@settings(max_examples=30, derandomize=True)
def test_totals_of_both_ways_under_one_key_are_told_apart(
    protocol: str,
    mbps: list[tuple[int, int]],
    streams: int,
    is_pretty: bool,
    is_server: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """iperf 3.7 to 3.10 write `sum` twice, and last means least."""
    there, back = ([float(pair[way]) for pair in mbps] for way in (0, 1))
    text = json.dumps(bidir(protocol, there, back, streams), indent=1 if is_pretty else None)
    if is_server:
        # What the client sends, the server receives.
        text = text.replace('"version"', '"accepted_connection": {}, "version"')
        text = text.replace('"sender": true', '"sender": 0').replace('"sender": false', '"sender": true')
        text = text.replace('"sender": 0', '"sender": false')
    path = tmp_path_factory.getbasetemp() / "bidir.json"
    path.write_text(text.replace("_bidir_reverse", ""))
    found = detect.read(path)
    assert [way.direction for way in found.throughput] == ["forward", "reverse"]
    for way, rates in zip(found.throughput, (there, back), strict=True):
        expansion = 1500 / MSS if protocol == "TCP" else 1428 / 1400
        assert_allclose(way.rate_bps, [rate * 1e6 * expansion for rate in rates])
    if (there[0], protocol) != (back[0], "TCP"):
        assert "`sum`" in " ".join(found.notes)
    if protocol == "TCP":
        assert found.transfer is not None
        assert found.transfer.retransmissions == 9
    else:
        counts = {count.direction: (count.packets, count.lost) for count in found.loss_counts}
        assert counts["reverse"] == (100 * len(mbps), 3 * len(mbps))


def udp_back(losses: list[tuple[int, int]], end: dict[str, Any] | None = None) -> str:
    """Lost and sent packets of each interval."""
    intervals = [
        interval(at_s, 10, sender=False, lost_packets=lost, packets=packets)
        for at_s, (lost, packets) in enumerate(losses)
    ]
    options = start(protocol="UDP", blksize=1400, reverse=1, omit=2)
    return json.dumps({"start": options, "intervals": intervals, "end": end or {}})


@given(
    omitted=st.integers(1, 10_000),
    lost=st.lists(st.integers(0, 60), min_size=1, max_size=20),
)
@settings(max_examples=60, derandomize=True)
def test_what_was_lost_before_the_first_interval_is_not_taken_back_from_it(
    omitted: int, lost: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With -O, iperf 3.1 subtracts the losses of the omitted time from the first interval that counts."""
    path = tmp_path_factory.getbasetemp() / "omitted.json"
    path.write_text(udp_back([(-omitted, 900), *((each, 900) for each in lost)]))
    found = detect.read(path)
    (count,) = found.loss_counts
    assert (count.packets, count.lost) == (900 * len(lost), sum(lost))
    assert f"losses of 1 of {len(lost) + 1} intervals are left out" in " ".join(found.notes)


@pytest.mark.parametrize("total", [{"lost_packets": -5, "packets": 900}, {"lost_packets": 99, "packets": 9}])
def test_a_loss_that_cannot_be_is_no_loss_and_said(read: Read, total: dict[str, Any]) -> None:
    found = read(udp_back([(901, 900)], {"sum": total, "cpu_utilization_percent": {}}))
    assert not found.loss_counts
    assert "cannot be" in " ".join(found.notes)


def test_totals_that_nothing_tells_apart_are_refused(read: Read) -> None:
    text = json.dumps(bidir("TCP", [20.0, 20.0], [4.0, 4.0], 1)).replace("_bidir_reverse", "")
    with pytest.raises(FileError, match="nothing tells which direction"):
        read(text.replace('"sender": true', '"x": 1').replace('"sender": false', '"x": 1'))
