"""irtt, fping, mtr, SmokePing and Flent: what their files say. The samples are made up in their formats."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airtcp.fit import fit
from airtcp.fit.detect import read
from airtcp.fit.readers import FileError
from airtcp.fit.readers import irtt as reading_irtt

MS = 1_000_000


def irtt(fates: list[str], there_ms: float = 12.0, back_ms: float = 30.0, offset_ms: float = 4000.0) -> str:
    """A result of irtt whose server's clock is ahead by `offset_ms`."""
    trips: list[dict[str, Any]] = []
    for n, lost in enumerate(fates):
        sent = n * 20 * MS
        trip: dict[str, Any] = {
            "seqno": n,
            "lost": lost,
            "timestamps": {"client": {"send": {"wall": 17 * 10**17 + sent, "monotonic": sent}}},
            "delay": {},
        }
        if lost == "false":
            wobble = (n % 7) * 0.1
            trip["delay"] = {
                "rtt": int((there_ms + back_ms + wobble) * MS),
                "send": int((there_ms + wobble + offset_ms) * MS),
                "receive": int((back_ms - offset_ms) * MS),
            }
        trips.append(trip)
    params = {"proto_version": 1, "duration": 60 * 10**9, "interval": 20 * MS, "length": 172}
    counted = {"packets_sent": len(fates), "packets_received": fates.count("false")}
    stats = {
        "send_call": {"n": 1},
        **counted,
        "upstream_loss_percent": 1.0,
        "bytes_sent": 172 * counted["packets_sent"],
        "bytes_received": 172 * counted["packets_received"],
    }
    document = {
        "version": {"irtt": "0.9"},
        "config": {"params": params},
        "stats": stats,
        "round_trips": trips,
    }
    return json.dumps(document, indent=2)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_irtt_tells_each_way(tmp_path: Path) -> None:
    fates = ["true_up" if n % 20 == 3 else "true_down" if n % 50 == 7 else "false" for n in range(1000)]
    measured = read(written(tmp_path, "irtt.json", irtt(fates)))
    assert measured.format == "irtt"
    ways = {each.direction: each for each in measured.fates}
    assert int(ways["forward"].lost.sum()) == 50
    assert int(ways["reverse"].lost.sum()) == 20
    assert ways["forward"].interval_s == pytest.approx(0.02)
    assert ways["forward"].packet_bytes == 200
    delays = {each.direction: each.delay_s for each in measured.one_way}
    # The clocks are seconds apart: the least of either way is half the least round trip.
    assert float(delays["forward"].min()) == pytest.approx(0.021, abs=1e-4)
    assert float(delays["reverse"].min()) == pytest.approx(0.021, abs=1e-4)
    assert float(np.ptp(delays["forward"])) == pytest.approx(0.0006, abs=1e-4)
    fitted = fit(tmp_path / "irtt.json")
    assert fitted._estimates.losses["forward"].loss.share.best == pytest.approx(0.05)


def test_irtt_that_knows_no_ways(tmp_path: Path) -> None:
    fates = ["true" if n == 9 else "false" for n in range(40)]
    document = json.loads(irtt(fates))
    for trip in document["round_trips"]:
        trip["delay"] = {"rtt": trip["delay"]["rtt"]} if trip["delay"] else {}
    (fates_read,) = read(written(tmp_path, "irtt.json", json.dumps(document))).fates
    assert fates_read.direction == "both"
    assert int(fates_read.lost.sum()) == 1


def test_a_long_irtt_result_is_read_part_by_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_irtt, "_LONGEST", 4000)
    path = tmp_path / "irtt.json.gz"
    path.write_bytes(gzip.compress(irtt(["false"] * 500).encode()))
    measured = read(path)
    assert measured.round_trips is not None
    assert len(measured.round_trips.rtt_s) == 500


def fping(rtts: list[float | None], *, dated: bool) -> str:
    lines = []
    for n, rtt in enumerate(rtts):
        if rtt is None:
            lines.append({"timeout": {"host": "192.0.2.1", "seq": n}})
            continue
        answer: dict[str, Any] = {"host": "192.0.2.1", "seq": n, "size": 64, "rtt": rtt}
        if dated:
            answer = {"timestamp": f"{1700000000 + n * 0.1 + rtt / 1e3:.5f}", **answer}
        lines.append({"resp": answer})
    lines.append({"summary": {"host": "192.0.2.1", "xmt": len(rtts), "rcv": 1, "loss": 0}})
    return "\n".join(map(json.dumps, lines))


@pytest.mark.parametrize("dated", [True, False])
def test_fping_tells_each_probe(tmp_path: Path, dated: bool) -> None:
    rtts = [None if n in (4, 5) else 20.0 + n % 3 for n in range(50)]
    measured = read(written(tmp_path, "fping.json", fping(rtts, dated=dated)))
    assert measured.format == "fping"
    (fates,) = measured.fates
    assert np.flatnonzero(fates.lost).tolist() == [4, 5]
    assert fates.packet_bytes == pytest.approx(84)
    assert fates.interval_s == pytest.approx(0.1 if dated else 1.0, rel=0.01)
    assert measured.round_trips is not None
    assert measured.round_trips.rtt_s[:3].tolist() == pytest.approx([0.020, 0.021, 0.022])


def test_fping_s_lists_and_sums(tmp_path: Path) -> None:
    listed = json.dumps({"vSum": {"host": "192.0.2.1", "values": [20.5, None, 21.0]}})
    measured = read(written(tmp_path, "list.json", listed))
    assert measured.fates[0].lost.tolist() == [False, True, False]
    sums = {"host": "h", "xmt": 100, "rcv": 97, "loss": 3, "rttMin": 18.0, "rttAvg": 20.0, "rttMax": 30.0}
    measured = read(written(tmp_path, "sums.json", json.dumps({"summary": sums})))
    assert (measured.loss_counts[0].packets, measured.loss_counts[0].lost) == (100, 3)
    assert measured.round_trips is not None
    assert measured.round_trips.least_s == pytest.approx(0.018)
    assert "leave out -q" in measured.notes[0]


MTR_JSON = {
    "report": {
        "mtr": {"src": "here", "dst": "192.0.2.9", "tests": 100, "psize": "64"},
        "hubs": [
            {"count": 1, "host": "192.0.2.1", "Loss%": 0.0, "Snt": 100, "Last": 1.0, "Avg": 1.1, "Best": 0.9,
             "Wrst": 2.0, "StDev": 0.1},
            {"count": 2, "host": "192.0.2.9", "Loss%": 4.0, "Snt": 100, "Last": 31.0, "Avg": 33.5,
             "Best": 30.2, "Wrst": 60.0, "StDev": 4.0},
        ],
    }
}  # fmt: skip
MTR_REPORT = """\
Start: 2026-01-01T12:00:00+0000
HOST: here                        Loss%   Snt   Last   Avg  Best  Wrst StDev
  1.|-- 192.0.2.1                  0.0%   100    1.0   1.1   0.9   2.0   0.1
  2.|-- 192.0.2.9                  4.0%   100   31.0  33.5  30.2  60.0   4.0
"""
MTR_CSV = """\
Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,
MTR.0.95,1700000000,OK,192.0.2.9,1,192.0.2.1,0.00,100,0,1.00,1.10,0.90,2.00,0.10
MTR.0.95,1700000000,OK,192.0.2.9,2,192.0.2.9,4.00,100,0,31.00,33.50,30.20,60.00,4.00
"""


@pytest.mark.parametrize("text", [json.dumps(MTR_JSON, indent=4), MTR_REPORT, MTR_CSV])
def test_mtr_s_sums_are_of_the_last_hop(tmp_path: Path, text: str) -> None:
    measured = read(written(tmp_path, "mtr", text))
    assert measured.format == "mtr"
    (count,) = measured.loss_counts
    assert (count.packets, count.lost, count.direction) == (100, 4, "both")
    assert measured.round_trips is not None
    assert measured.round_trips.least_s == pytest.approx(0.0302)
    assert fit(tmp_path / "mtr").delay is not None


def test_mtr_s_raw_lines_tell_each_probe(tmp_path: Path) -> None:
    lines = ["h 0 192.0.2.1", "h 1 192.0.2.9"]
    for n in range(30):
        lines += [f"x 0 {33000 + 2 * n}", f"p 0 1100 {33000 + 2 * n}", f"x 1 {33001 + 2 * n}"]
        if n != 12:
            lines.append(f"p 1 {30000 + n} {33001 + 2 * n}")
    measured = read(written(tmp_path, "raw", "\n".join(lines)))
    assert measured.format == "mtr, raw"
    assert np.flatnonzero(measured.fates[0].lost).tolist() == [12]
    assert measured.round_trips is not None
    assert float(measured.round_trips.rtt_s[0]) == pytest.approx(0.030)


def smoke(rows: int = 40) -> list[tuple[int, int, list[float]]]:
    """Time, lost, round trips of each step."""
    return [(1700000000 + 300 * n, n % 10 == 0, [0.02 + 0.001 * k for k in range(20 - (n % 10 == 0))])
            for n in range(rows)]  # fmt: skip


def fetched() -> str:
    names = ["uptime", "loss", "median", *(f"ping{k}" for k in range(1, 21))]
    lines = ["".join(f"{name:>20}" for name in names), ""]
    for at, lost, pings in smoke():
        values = [math.nan, float(lost), pings[len(pings) // 2], *pings, *([math.nan] * (20 - len(pings)))]
        lines.append(f"{at}: " + " ".join(f"{value:.10e}" for value in values))
    return "\n".join(lines)


def dumped() -> str:
    names = ["uptime", "loss", "median", *(f"ping{k}" for k in range(1, 21))]
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<rrd>", "  <version>0003</version>"]
    lines += [f"  <ds>\n    <name> {name} </name>\n  </ds>" for name in names]
    for at, lost, pings in smoke():
        values = [math.nan, float(lost), pings[len(pings) // 2], *pings, *([math.nan] * (20 - len(pings)))]
        cells = "".join(f"<v>{value:.10e}</v>" for value in values)
        lines.append(f"      <!-- 2023-11-14 22:13:20 UTC / {at} --> <row>{cells}</row>")
    return "\n".join([*lines, "</rrd>"])


@pytest.mark.parametrize("text", [fetched(), dumped()])
def test_smokeping(tmp_path: Path, text: str) -> None:
    measured = read(written(tmp_path, "smoke", text))
    assert measured.format == "SmokePing"
    (count,) = measured.loss_counts
    assert (count.packets, count.lost) == (800, 4)
    assert measured.round_trips is not None
    assert len(measured.round_trips.rtt_s) == 796
    assert float(measured.round_trips.time_s[-1]) == pytest.approx(300 * 39 + 19 * 15)
    assert fit(tmp_path / "smoke").delay is not None


@given(lost=st.lists(st.floats(0, 3), min_size=1, max_size=50), comma=st.booleans())
@settings(max_examples=30, derandomize=True)
def test_smokeping_s_rows_that_stand_for_several_steps_have_fractions_of_a_loss(
    lost: list[float], comma: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = "  ".join(["loss", "median", *(f"ping{k}" for k in range(1, 21))]) + "\n\n"
    for n, each in enumerate(lost):
        numbers = " ".join(f"{value:.10e}" for value in [each, 0.02, *[0.02] * 20])
        text += f"{1700000000 + 3600 * n}: {numbers.replace('.', ',') if comma else numbers}\n"
    (count,) = read(written(tmp_path_factory.getbasetemp(), "smoke", text)).loss_counts
    assert count.packets == 20 * len(lost)
    assert count.lost == pytest.approx(math.fsum(lost), abs=1e-6)


def test_smokeping_s_archives_count_each_time_once(tmp_path: Path) -> None:
    """The coarser ones reach further back; minima and maxima are no means."""

    def archive(of: str, steps: int, starts: range, lost: float) -> list[str]:
        cells = "".join(f"<v>{value:.3e}</v>" for value in [lost, 0.02, *[0.02] * 20])
        rows = [f"<!-- 2023-11-14 22:13:20 UTC / {1700000000 + at} --> <row>{cells}</row>" for at in starts]
        return ["<rra>", f"<cf>{of}</cf>", f"<pdp_per_row>{steps}</pdp_per_row>", *rows, "</rra>"]

    names = ["loss", "median", *(f"ping{k}" for k in range(1, 21))]
    lines = ["<rrd>", *(f"<name> {name} </name>" for name in names)]
    lines += archive("AVERAGE", 1, range(36_000, 72_000, 300), 1.0)
    lines += archive("AVERAGE", 12, range(0, 72_000, 3600), 0.5)
    lines += archive("MAX", 12, range(0, 72_000, 3600), 20.0)
    (count,) = read(written(tmp_path, "dump", "\n".join([*lines, "</rrd>"]))).loss_counts
    assert (count.packets, count.lost) == (20 * 240, 120 + 60)


def test_smokeping_s_database_says_how_to_print_it(tmp_path: Path) -> None:
    path = tmp_path / "host.rrd"
    path.write_bytes(b"RRD\x000003\0" + bytes(range(256)) * 10)
    with pytest.raises(FileError, match="rrdtool fetch"):
        read(path)


def flent(uploads: int = 2, downloads: int = 1) -> dict[str, Any]:
    steps = [0.2 * n for n in range(100)]
    results: dict[str, Any] = {"Ping (ms) ICMP": [40.0 if 25 < n < 75 else 20.0 for n in range(100)]}
    for way, count in (("upload", uploads), ("download", downloads)):
        for n in range(count):
            results[f"TCP {way} B{n}"] = [5.0 if step > 5 else None for step in range(100)]
    results["TCP upload sum"] = [99.0] * 100
    raw = {"Ping (ms) ICMP": [{"seq": n, "t": 1700000000 + 0.2 * n, "val": 20.0 + n % 5} for n in range(100)]}
    meta = {"NAME": "rrul", "STEP_SIZE": 0.2, "FLENT_VERSION": "2.1.1"}
    return {"version": 4, "metadata": meta, "x_values": steps, "results": results, "raw_values": raw}


def test_flent(tmp_path: Path) -> None:
    path = tmp_path / "rrul.flent.gz"
    path.write_bytes(gzip.compress(json.dumps(flent()).encode()))
    measured = read(path)
    assert measured.load == "both"
    rates = {each.direction: float(np.median(each.rate_bps)) for each in measured.throughput}
    assert rates["forward"] == pytest.approx(10e6 * 1500 / 1448)
    assert rates["reverse"] == pytest.approx(5e6 * 1500 / 1448)
    fitted = fit(path)
    assert fitted.delay is not None
    assert fitted.delay.base_s.best == pytest.approx(0.020)
    assert any("without load" in each.quantity for each in fitted.unknown)


def test_flent_s_pings_alone_are_of_an_idle_path(tmp_path: Path) -> None:
    measured = read(written(tmp_path, "ping.flent", json.dumps(flent(0, 0))))
    assert measured.load is None
    assert measured.round_trips is not None
    assert len(measured.round_trips.rtt_s) == 100


@given(
    names=st.sampled_from(
        [
            ["TCP upload::1", "TCP upload::2", "TCP upload::3"],
            ["TCP upload BE", "TCP upload CS5"],
            ["TCP upload"],
            ["TCP upload BE1 summit.example", "TCP upload BE2 avg.example"],
            ["TCP upload - cubic", "TCP upload - bbr"],
        ]
    ),
    mbps=st.integers(1, 90),
)
@settings(max_examples=20, derandomize=True)
def test_all_streams_of_flent_add_up_and_what_it_computes_of_them_does_not(
    names: list[str], mbps: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    document = flent(0, 0)
    series = [float(mbps) if step > 5 else None for step in range(100)]
    for name in names:
        document["results"] |= {name: series, f"{name}::tcp_cwnd": series, f"{name}::tcp_rtt": series}
    for derived in ("sum", "avg", "fairness"):
        document["results"][f"TCP upload {derived}"] = [77.0] * 100
    found = read(written(tmp_path_factory.getbasetemp(), "up.flent", json.dumps(document)))
    (there,) = found.throughput
    assert np.median(there.rate_bps) == pytest.approx(len(names) * mbps * 1e6 * 1500 / 1448)
    assert found.load == "forward"


def test_flent_s_sums_without_streams_are_named(tmp_path: Path) -> None:
    found = read(written(tmp_path, "sum.flent", json.dumps(flent(0, 0))))
    assert "not used: `TCP upload sum`" in " ".join(found.notes)


def test_flent_s_sums_over_a_moment_are_no_rate(tmp_path: Path) -> None:
    """Streams that are interpolated between reports of their own seem to exceed the link at times."""
    document = flent(0, 0)
    random = np.random.default_rng(1)
    for n in range(3):
        document["results"][f"TCP upload::{n}"] = (33.0 + random.normal(0, 6, 100)).tolist()
    (there,) = read(written(tmp_path, "noisy.flent", json.dumps(document))).throughput
    assert there.interval_s.tolist() == pytest.approx([5, 5, 5, 5])
    assert float(there.rate_bps.max()) < 102e6 * 1500 / 1448


@pytest.mark.parametrize("label", ["ICMP{n} ", "ICMP "])
def test_flent_s_hosts_are_paths_that_share_a_link(tmp_path: Path, label: str) -> None:
    hosts = {"near.example": 10.0, "far.example": 200.0, "near": 50.0}
    document = flent(0, 0)
    document["raw_values"] = {}
    document["results"] = {"Ping (ms) avg": [90.0] * 100}
    for n, (host, rtt_ms) in enumerate(hosts.items(), 1):
        document["results"][f"Ping (ms) {label.format(n=n)}{host}"] = [rtt_ms] * 100
        document["results"][f"TCP upload BE{n} {host}"] = [20.0] * 100
    path = written(tmp_path, "fair.flent", json.dumps(document))
    with pytest.raises(FileError, match=r"3 hosts .* reached 62.2 Mbit/s .*far.example.*--only"):
        read(path)
    for host, rtt_ms in hosts.items():
        found = read(path, only=host)
        assert found.round_trips is not None
        assert found.round_trips.least_s == pytest.approx(rtt_ms / 1e3)
        assert found.throughput[0].rate_bps[0] == pytest.approx(60e6 * 1500 / 1448)


@pytest.mark.parametrize("text", ["{", '{"x_values": [1], "results": 7, "metadata": 1, "FLENT_VERSION": 1}'])
def test_flent_that_is_broken_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(FileError):
        read(written(tmp_path, "x.flent", text), "flent")


def test_two_ways_of_iperf3_are_told_apart(tmp_path: Path) -> None:
    def result(mbps: float, *, reverse: int) -> str:
        interval = {"start": 0, "seconds": 1.0, "bits_per_second": mbps * 1e6, "retransmits": 0, "rtt": 20000}
        start = {"version": "iperf 3.16", "test_start": {"protocol": "TCP", "reverse": reverse}}
        sums = [{"streams": [interval], "sum": interval}] * 5
        return json.dumps({"start": start, "intervals": sums, "end": {"sum_sent": {"retransmits": 0}}})

    files = [
        written(tmp_path, "there.json", result(8, reverse=0)),
        written(tmp_path, "back.json", result(3, reverse=1)),
    ]
    fitted = fit(files)
    assert set(fitted._evidence.reached) == {"forward", "reverse"}
    alone = fit(files[1])
    assert set(alone._evidence.reached) == {"forward"}
