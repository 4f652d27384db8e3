"""Samples of `ss -ti`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from airtcp.fit import detect
from airtcp.fit.measurement import Measurement
from airtcp.fit.readers import FileError

Read = Callable[[str], Measurement]
HEADING = "State Recv-Q Send-Q Local Address:Port  Peer Address:Port Process\n"
SOCKET = "ESTAB 0      9124    192.0.2.7:40001   192.0.2.1:5201 "
OTHER = "ESTAB 0      0       192.0.2.7:40002   192.0.2.1:22 "


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(text: str) -> Measurement:
        path = tmp_path / "ss.txt"
        path.write_text(text)
        return detect.read(path)

    return read


def info(acked: int, rtt_ms: float, more: str = "") -> str:
    return (
        f"\t ts sack ecn cubic wscale:7,7 rto:204 rtt:{rtt_ms}/1.5 mss:1448 pmtu:1500 rcvmss:536 cwnd:10 "
        f"ssthresh:7 bytes_sent:{acked + 9} bytes_acked:{acked} bytes_received:40 segs_out:12 "
        f"data_segs_out:90 send 11.6Mbps lastsnd:4 pacing_rate 13.9Mbps delivery_rate 2.5Mbps "
        f"busy:96ms {more} minrtt:31\n"
    )


def sample(acked: int, rtt_ms: float, more: str = "") -> str:
    return HEADING + SOCKET + "\n" + info(acked, rtt_ms, more)


def test_samples_with_dates(read: Read) -> None:
    found = read(
        "1700000000.5\n"
        + sample(10_000, 40)
        + "1700000002.5\n"
        + sample(30_000, 50)
        + "1700000003.5\n"
        + sample(30_000, 50, "retrans:1/7 dsack_dups:2 reord_seen:3")
    )
    (throughput,) = found.throughput
    assert_allclose(throughput.time_s, [0, 2])
    assert_allclose(throughput.rate_bps, [80_000 * 1500 / 1448, 0])
    assert found.round_trips is not None
    # Nothing was acknowledged between the second and the third.
    assert_allclose(found.round_trips.time_s, [0, 2])
    assert_allclose(found.round_trips.rtt_s, [0.04, 0.05])
    assert found.round_trips.least_s == 0.031
    assert found.transfer is not None
    assert (found.transfer.data_packets, found.transfer.retransmissions) == (83, 7)
    assert (found.transfer.spurious, found.transfer.congestion_control) == (2, "cubic")
    assert (found.transfer.mss_bytes, found.transfer.ecn) == (1448, True)
    assert (found.reordering[0].packets, found.reordering[0].late) == (90, 3)
    assert found.skipped is None


def test_without_dates_an_interval_is_assumed_and_said(read: Read) -> None:
    found = read(sample(10_000, 40) + sample(20_000, 50))
    assert_allclose(found.throughput[0].interval_s, [1])
    assert "1 s" in found.notes[0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Sun Nov 22 23:59:59 UTC 2026", "Mon Nov 23 00:00:01 UTC 2026"),
        ("So 22. Nov 23:59:59 CET 2026", "Mo 23. Nov 00:00:01 CET 2026"),
        ("Sun 22 Nov 2026 11:59:59 PM UTC", "Mon 23 Nov 2026 12:00:01 AM UTC"),
        ("2026-11-22T23:59:59+00:00", "2026-11-23T00:00:01+00:00"),
        ("2026-11-22 23:59:59,250", "2026-11-23 00:00:01,250"),
        ("23:59:59", "00:00:01"),
    ],
)
def test_dates_of_many_kinds(read: Read, first: str, second: str) -> None:
    found = read(f"{first}\n{sample(10_000, 40)}{second}\n{sample(20_000, 50)}")
    assert_allclose(found.throughput[0].interval_s, [2])
    assert found.skipped is None


@pytest.mark.parametrize("separator", ["\n", ""])
@pytest.mark.parametrize("columns", ["", "timer:(on,200ms,0) uid:0 ino:380387 sk:1 cgroup:/ <-> "])
@pytest.mark.parametrize("state", ["ESTAB 0 0", "0 0", "tcp ESTAB 0 0", "CLOSE-WAIT 1 0"])
def test_columns_of_every_option(read: Read, state: str, columns: str, separator: str) -> None:
    socket = f"{state}  [2001:db8::7%eth0]:40001  [2001:db8::1]:5201 {columns}"
    found = read("".join(socket + separator + info(acked, 40) for acked in (10_000, 20_000)))
    assert_allclose(found.throughput[0].rate_bps, [80_000 * 1500 / 1448])
    assert found.transfer is not None
    assert found.transfer.congestion_control == "cubic"
    assert found.skipped is None


def test_the_connection_with_most_bytes_is_used(read: Read) -> None:
    text = "".join(
        SOCKET + "\n" + info(acked, 40) + OTHER + "\n" + info(acked // 10, 99) for acked in (10_000, 20_000)
    )
    found = read(text)
    assert found.round_trips is not None
    assert_allclose(found.round_trips.rtt_s, 0.04)
    assert "192.0.2.7:40001" in found.notes[0]


def test_a_lone_sample_has_the_delivery_rate(read: Read) -> None:
    assert_allclose(read(sample(10_000, 40)).throughput[0].rate_bps, [2.5e6 * 1500 / 1448])


def test_a_receiver_does_not_know_what_was_lost(read: Read) -> None:
    many = sample(10, 40).replace("bytes_received:40 ", "bytes_received:100000 ")
    more = sample(10, 40).replace("bytes_received:40 ", "bytes_received:200000 ")
    found = read(many + more)
    assert found.transfer is None
    assert_allclose(found.throughput[0].rate_bps, [800_000 * 1500 / 1448])
    assert "receives" in " ".join(found.notes)


def test_without_i_there_is_nothing_to_read(read: Read) -> None:
    with pytest.raises(FileError, match="record them with -i"):
        read(HEADING + SOCKET)


def flow(port: int, acked: int, least_ms: float, hosts: tuple[str, str] = ("192.0.2.7", "192.0.2.1")) -> str:
    of = info(acked, least_ms + 9, f"retrans:0/{port % 7}").replace("minrtt:31", f"minrtt:{least_ms}")
    return f"ESTAB 0 9124 {hosts[0]}:{port} {hosts[1]}:5201\n{of}"


@given(
    flows=st.lists(st.tuples(st.integers(50_000, 90_000), st.integers(20, 90)), min_size=1, max_size=5),
    late=st.integers(0, 3),
    dated=st.booleans(),
    headed=st.booleans(),
)
@settings(max_examples=40, derandomize=True)
def test_connections_of_the_same_hosts_add_up(
    flows: list[tuple[int, int]],
    late: int,
    dated: bool,
    headed: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Each carries its bytes per second; the last one begins `late` seconds after the others."""
    text = ""
    for second in range(1, 6):
        text += f"17000000{second:02}.5\n" if dated else ""
        text += HEADING if headed else ""
        for n, (per_second, least_ms) in enumerate(flows):
            age = second - (late if n == len(flows) - 1 and n else 0)
            text += flow(40_000 + n, per_second * age, least_ms) if age > 0 else ""
    path = tmp_path_factory.getbasetemp() / "flows.txt"
    path.write_text(text)
    found = detect.read(path)
    each = [per_second * 8 * 1500 / 1448 for per_second, _ in flows]
    expected = [
        sum(rate for n, rate in enumerate(each) if not n or n < len(each) - 1 or second > late)
        for second in range(1, 5)
    ]
    assert_allclose(found.throughput[0].rate_bps, expected)
    assert found.round_trips is not None
    assert found.round_trips.least_s == min(least for _, least in flows) / 1e3
    assert found.transfer is not None
    assert found.transfer.retransmissions == sum((40_000 + n) % 7 for n in range(len(flows)))
    assert any("share the path" in note for note in found.notes) == (len(flows) > 1)


def test_connections_of_other_hosts_are_other_paths(read: Read) -> None:
    here, there, third = "192.0.2.7", "[::ffff:192.0.2.1]", "198.51.100.9"

    def samples(bytes_to_third: int) -> str:
        return "".join(
            flow(40_000, 90_000 * n, 20)
            + flow(40_001, 80_000 * n, 21, (here, there))
            + flow(40_002, bytes_to_third * n, 80, (here, third))
            for n in range(1, 4)
        )

    found = read(samples(1000))
    assert "192.0.2.7 → 192.0.2.1 is used; left out: 192.0.2.7 → 198.51.100.9" in found.notes[0]
    assert "2 connections of the same two hosts share the path" in found.notes[1]
    with pytest.raises(FileError, match=r"2 pairs of hosts .*--only"):
        read(samples(100_000))


def test_a_sample_that_is_cut_anywhere_changes_nothing(read: Read) -> None:
    """What it lacks, such as its retransmissions, is not zero, and a number may lack digits."""
    whole = "".join(f"{1700000000 + n}.5\n" + sample(10_000 * n, 40, f"retrans:0/{n}") for n in range(1, 6))
    last = "1700000006.5\n" + sample(60_000, 50, "retrans:0/6")
    expected = read(whole)
    for end in range(len(last) - len(info(60_000, 50, "retrans:0/6")) + 30, len(last) - 1, 7):
        found = read(whole + last[:end])
        assert found.transfer is not None
        assert found.transfer == expected.transfer, last[:end]
        assert found.round_trips is not None
        assert found.round_trips.least_s == 0.031


def test_old_kernels_count_bytes_and_not_data_packets(read: Read) -> None:
    old = "\t cubic wscale:7,7 rto:204 rtt:40/1.5 mss:1000 cwnd:10 bytes_acked:{} segs_out:12 retrans:0/{}\n"
    found = read("".join(HEADING + SOCKET + "\n" + old.format(10_000 * n, n) for n in range(1, 6)))
    assert found.transfer is not None
    assert (found.transfer.data_packets, found.transfer.retransmissions) == (50, 5)
