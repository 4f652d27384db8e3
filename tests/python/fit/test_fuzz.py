"""Whatever the bytes: a reader answers, or says what is wrong with the file, and comes to an end."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dialects import DIALECTS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from speed_test_dialects import DIALECTS as SPEED_TESTS
from speed_test_dialects import Facts
from test_data_sets import ping
from test_fping import lines, lists
from test_mtr import as_xml
from test_other_tools import MTR_CSV, MTR_JSON, MTR_REPORT, dumped, fetched, flent, fping, irtt

from airtcp.fit import detect
from airtcp.fit.measurement import Measurement
from airtcp.fit.readers import FileError, readers

RTTS = [12.5, None, 14.0, 0.3, None, None, 1250.0, 13.0]
TCP_INFO = (
    "ESTAB 0 0 192.0.2.7:40001 192.0.2.1:5201\n\t cubic wscale:7,7 rto:204 rtt:40.5/1.5 mss:1448 cwnd:10 "
    "bytes_sent:99000 bytes_acked:98000 segs_out:12 data_segs_out:90 delivery_rate 2.5Mbps "
    "retrans:0/3 minrtt:31\n"
)
INTERVAL = {"start": 0, "seconds": 1.0, "bits_per_second": 8e6, "retransmits": 2, "rtt": 50_000, "packets": 9}
IPERF3 = {
    "start": {"version": "iperf 3.16", "tcp_mss_default": 1448, "test_start": {"protocol": "TCP"}},
    "intervals": [{"streams": [INTERVAL], "sum": INTERVAL, "sum_bidir_reverse": INTERVAL}] * 2,
    "end": {"streams": [{"sender": {"min_rtt": 42_000}, "udp": {"out_of_order": 2, "packets": 9}}],
            "sum_sent": {"retransmits": 5}, "sum": {"lost_packets": 3, "packets": 9}},
}  # fmt: skip
VALID: dict[str, bytes] = {
    **{name: dialect(RTTS).encode() for name, dialect in DIALECTS.items()},
    **{
        name: SPEED_TESTS[name](Facts(4e7, 8e6, 23.5, 22.0)).encode()
        for name in ("Ookla", "Ookla text", "Ookla CSV")
    },
    "ndt7": "\n".join(SPEED_TESTS["ndt7"](Facts(4e7, 8e6, 23.5, 22.0)).splitlines()[-8:]).encode(),
    "steps": b"0.5\t1.25\n1.5\t2.5\n2.5\t0.75\n",
    "steps of a bus": b"".join(
        b"%d %d 59.84 10.77 %d 1000\n" % (1284402502 + n, 1000 * n, 9 * n) for n in (1, 2, 3)
    ),
    "atlas": json.dumps([ping(7, 1_700_000_000 + 240 * n, 20.0 + n, None, 21.0) for n in range(3)]).encode(),
    "starlink": json.dumps(
        {
            "dishGetHistory": {
                "current": "4",
                "popPingDropRate": [0, 1, 0, 0],
                "popPingLatencyMs": [30.0, 0, 31.5, 33.0],
            }
        }
    ).encode(),
    "mahimahi": b"1\n5\n5\n700\n1200\n",
    "log": json.dumps([{"duration_ms": 1000, "bandwidth_kbps": 800, "latency_ms": 60}] * 4).encode(),
    "csv": b"time_s,rtt_ms,lost\n0,12.5,0\n1,,1\n2,13,0\n",
    "csv of rates": b'"Time";"Download (Mbit/s)"\n2026-11-22T03:08:50Z;1,5\n2026-11-22T03:08:51Z;1,7\n',
    "rtt": b"# round trips in ms\n12.5\n13\n",
    "iperf3": json.dumps(IPERF3, indent=1).encode(),
    "iperf3 udp": json.dumps(IPERF3).replace("TCP", "UDP").encode(),
    "irtt": irtt(["false", "true_up", "false", "true_down", "false", "true"]).encode(),
    "fping": fping([20.0, None, 21.0, 22.5], dated=True).encode(),
    "mtr": MTR_REPORT.encode(),
    "mtr json": json.dumps(MTR_JSON).encode(),
    "mtr csv": MTR_CSV.encode(),
    "mtr raw": b"h 0 192.0.2.1\n" + b"".join(b"x 0 %d\np 0 1100 %d\n" % (n, n) for n in range(3)),
    "mtr xml": as_xml([("192.0.2.1", 0, 1.0, 1.5), ("192.0.2.9", 4, 30.0, 33.5)], "192.0.2.9").encode(),
    "fping text": lines({"192.0.2.1": [20.0, None, 21.0, 22.5]}, dated=True).encode(),
    "fping list": lists({"192.0.2.1": [20.0, None, 21.0, 22.5]}).encode(),
    "smokeping": fetched().encode(),
    "smokeping dump": dumped().encode(),
    "flent": json.dumps(flent()).encode(),
    "probes": b"# airtcp probes 1\n# load=none clock_error_ms=0\ntime_s,bytes,rtt_ms,there_ms,back_ms,lost\n"
    b"0.0,84,30.1,20.0,10.1,\n0.05,1500,,,,there\n0.1,84,30.0,20.0,10.0,\n0.15,1500,,,,back\n",
    "trains": b"# airtcp trains 1\n"
    + b"".join(b"there,0,%d,1500,%d,%d\n" % (n, n, 1200 * n) for n in range(12)),
    "ss": b"".join(f"17000000{n:02}.5\n{TCP_INFO.replace('98', str(n))}".encode() for n in (10, 20, 30)),
}
TELLING = [
    b"\0", b"\n", b"\r\n", b"\xff\xfe", b"\x1f\x8b", b"{", b"[" * 3000, b'{"a":' * 3000, b'"', b"-1",
    b"1e999", b"nan", b"NaN", b"Infinity", b"9" * 400, b"1e308", b"-0.0", b"x" * 3000, b"[1e9] ",
    b"\n\a\n", b"\n\x1b[31m\n",
    b"icmp_seq=65535 ", b"icmp_seq=99999999 ", b"Request timeout for icmp_seq 40000\n",
    b"999999999999 packets transmitted, 1 received, 0% packet loss, time 1ms\n", b"Sent = 99999999, ",
    b"PING a (192.0.2.2): 56 data bytes\n", b"Pinging a [192.0.2.3] with 32 bytes of data:\n",
    b"4294967295\n", b"rtt:0/0 ", b"bytes_acked:999999999999999999 ",
]  # fmt: skip
"""What readers look for, and what hurts."""


def test_every_format_has_a_valid_file() -> None:
    """But captures: `crates/capture/tests/any_bytes.rs` mutates those."""
    likeliest = {max(readers(), key=lambda reader: reader.recognises(data)).name for data in VALID.values()}
    assert {reader.name for reader in readers()} - likeliest == {"capture"}


@st.composite
def mutants(draw: st.DrawFn) -> bytes:
    """A valid file, a few times cut, doubled, spliced with another one, or with bytes put in."""
    kinds = sorted(VALID)
    data = VALID[draw(st.sampled_from(kinds))]
    for _ in range(draw(st.integers(1, 4))):
        start, stop = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
        match draw(st.integers(0, 5)):
            case 0:
                data = data[:stop]
            case 1:
                data = data[:start] + data[stop:]
            case 2:
                data = data[:stop] + data[start:]
            case 3:
                data = data[:start] + VALID[draw(st.sampled_from(kinds))] + data[stop:]
            case 4:
                data = data[:start] + draw(st.binary(max_size=8)) + data[start:]
            case _:
                data = data[:start] + draw(st.sampled_from(TELLING)) + data[start:]
    return data


def check(found: Measurement) -> None:
    """What every Measurement promises."""
    trips = found.round_trips
    if trips is not None:
        assert len(trips.rtt_s) == len(trips.time_s) > 0
        assert np.isfinite(trips.rtt_s).all()
        assert (trips.rtt_s >= 0).all()
        assert np.isfinite(trips.time_s).all()
        assert (np.diff(trips.time_s) >= 0).all()
    for way in found.throughput:
        assert len(way.rate_bps) == len(way.time_s) == len(way.interval_s) > 0
        assert np.isfinite(way.rate_bps).all()
        assert (way.rate_bps >= 0).all()
        assert (way.interval_s > 0).all()
        assert np.isfinite(way.interval_s).all()
        assert way.rtt_s is None or len(way.rtt_s) == len(way.rate_bps)
    for fates in found.fates:
        assert fates.lost.dtype == bool
        assert fates.interval_s is None or np.isfinite(fates.interval_s)
    for count in found.loss_counts:
        assert 0 <= count.lost <= count.packets
    for late in found.reordering:
        assert 0 <= late.late <= late.packets
        assert len(late.late_by_s) <= late.late
    assert trips or found.throughput or found.fates or found.link_rates


def read_or_refuse(path: Path, name: str | None = None) -> None:
    refused = ""
    try:
        check(detect.read(path, name))
    except FileError as error:
        refused = str(error)
    assert not refused or (str(path) in refused and len(refused) < 1000)


@given(data=mutants(), packed=st.integers(0, 9))
@settings(max_examples=600, derandomize=True, suppress_health_check=list(HealthCheck))
def test_mutants(data: bytes, packed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "mutant"
    if packed == 0:
        data = gzip.compress(data)[: len(data)]
    elif packed == 1:
        data = b"\xff\xfe" + data.decode("utf-8", "replace").encode("utf-16-le")[: 2 * len(data) - 1]
    path.write_bytes(data)
    read_or_refuse(path)


@pytest.mark.parametrize("name", [reader.name for reader in readers()])
@given(data=mutants() | st.binary(max_size=200))
@settings(max_examples=120, derandomize=True, suppress_health_check=list(HealthCheck))
def test_a_reader_that_is_told_to_read_a_foreign_file(
    name: str, data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "foreign"
    path.write_bytes(data)
    read_or_refuse(path, name)


def places(value: object) -> list[tuple[dict[str, Any], str]]:
    """Every object and each of its keys."""
    if isinstance(value, dict):
        return [(value, key) for key in value] + [at for each in value.values() for at in places(each)]
    return [at for each in value for at in places(each)] if isinstance(value, list) else []


def is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return data[:1] in b"[{"


JSONS = sorted(name for name, data in VALID.items() if is_json(data))
ANYTHING = [
    "null", "true", '"x"', '""', "-1", "0", "1e308", "1" + "0" * 400, "[]", "{}", "[1]", '{"a": 1}', "[[]]",
    "[{}]", '"1e999"',
]  # fmt: skip
"""Values as JSON."""


@given(
    name=st.sampled_from(JSONS),
    spots=st.lists(st.tuples(st.integers(0, 9999), st.sampled_from(ANYTHING)), min_size=1, max_size=3),
)
@settings(max_examples=300, derandomize=True)
def test_json_with_values_of_any_type(
    name: str, spots: list[tuple[int, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    document = json.loads(VALID[name])
    for place, value in spots:
        every = places(document)
        if every:
            of, key = every[place % len(every)]
            of[key] = json.loads(value)
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(document))
    read_or_refuse(path)


@pytest.mark.parametrize("name", VALID)
def test_each_file_is_valid_and_stays_so_when_it_is_cut_anywhere(name: str, tmp_path: Path) -> None:
    path = tmp_path / "cut"
    path.write_bytes(VALID[name])
    check(detect.read(path))
    size = len(VALID[name])
    for length in range(0, size, max(7, size // 300)):
        path.write_bytes(VALID[name][:length])
        read_or_refuse(path)


@pytest.mark.parametrize(
    "unit", [":", "1", "a:", "= 1 ", "seq=1 ", "1 a:b ", "[1.1", "{", "'", "1:11 ", "=1 a=1 a TTL="]
)
@pytest.mark.parametrize("name", ["linux", "windows", "csv", "ss"])
def test_a_repetitive_line_ends(name: str, unit: str, tmp_path: Path) -> None:
    """Patterns that take time beyond proportion would take hours for these."""
    path = tmp_path / "repetitive"
    path.write_bytes(VALID[name] + (unit * (1900 // len(unit)) + "\n").encode() * 3)
    read_or_refuse(path)
