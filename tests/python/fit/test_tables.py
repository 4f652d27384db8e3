"""Capacity traces, bandwidth logs, CSV and bare round trips."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from airtcp.fit import detect
from airtcp.fit.measurement import Floats, Measurement
from airtcp.fit.readers import FileError

Read = Callable[..., Measurement]
TRACES = Path(__file__).parents[3].parent / "shared" / "traces"
"""Where they lie beside the project's root."""


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(text: str | bytes, name: str = "file", **options: str) -> Measurement:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return detect.read(path, **options)

    return read


def rtt_s(found: Measurement) -> Floats:
    assert found.round_trips is not None
    return found.round_trips.rtt_s


# Capacity traces


def test_a_trace_tells_its_rate(read: Read) -> None:
    # 1500 bytes each 10 ms for a second, then twice as many.
    times = [*range(10, 1001, 10), *range(1005, 2001, 5)]
    found = read("\n".join(map(str, times)), "cell.down")
    (capacity,) = found.throughput
    assert_allclose(capacity.rate_bps, [1.2e6, 1.2e6, 2.4e6, 2.4e6])
    assert_allclose(capacity.interval_s, 0.5)
    assert (capacity.is_capacity, capacity.direction) == (True, "forward")
    assert found.replay is not None
    assert (found.replay.key, found.replay.direction) == ("trace", "forward")


@pytest.mark.parametrize(
    ("name", "direction"),
    [("a.up", "reverse"), ("a.down", "forward"), ("uplink.txt", "reverse"), ("lte_down_1", "forward")],
)
def test_the_name_tells_the_direction(read: Read, name: str, direction: str) -> None:
    assert read("1\n2\n1000\n", name).throughput[0].direction == direction


def test_a_trace_that_the_engine_would_refuse_is_not_replayed(read: Read) -> None:
    found = read("1\n2\nthree\n1000\n")
    assert found.replay is None
    assert found.skipped is not None
    assert (found.skipped.count, found.skipped.first) == (1, "line 3: `three`")


def test_of_two_traces_in_one_file_the_first_is_used(read: Read) -> None:
    trace = "".join(f"{ms}\n" for ms in range(1, 1001))
    found = read(trace + trace)
    assert_allclose(found.throughput[0].rate_bps, 12e6, rtol=0.01)
    assert found.skipped is not None
    assert found.skipped.count == 999


def test_times_beyond_a_month_are_refused(read: Read) -> None:
    with pytest.raises(FileError, match="line 2"):
        read("1\n4000000000\n")


# Bandwidth logs


LOG = [
    {"duration_ms": 1000, "bandwidth_kbps": 800, "latency_ms": 60},
    {"duration_ms": 500, "bandwidth_kbps": 400, "latency_ms": 70},
]


def test_a_log(read: Read) -> None:
    found = read(json.dumps(LOG))
    (capacity,) = found.throughput
    assert_allclose(capacity.time_s, [0, 1])
    assert_allclose(capacity.interval_s, [1, 0.5])
    assert_allclose(capacity.rate_bps, [8e5, 4e5])
    assert capacity.rtt_s is not None
    assert_allclose(capacity.rtt_s, [0.06, 0.07])
    assert capacity.is_capacity
    assert found.replay is not None
    assert found.replay.key == "log"


def test_a_log_with_other_keys_is_read_and_not_replayed(read: Read) -> None:
    found = read(json.dumps([{"Duration (s)": 1, "throughput_mbps": 0.8, "rtt": 60}] * 3))
    assert_allclose(found.throughput[0].rate_bps, 8e5)
    assert found.throughput[0].rtt_s is not None
    assert_allclose(found.throughput[0].rtt_s, 0.06)
    assert not found.throughput[0].is_capacity
    assert found.replay is None


def test_a_log_that_breaks_off_keeps_its_good_part(read: Read) -> None:
    found = read(json.dumps(LOG * 3)[:-30])
    assert len(found.throughput[0].rate_bps) == 5
    assert found.skipped is not None
    assert found.skipped.count == 1
    assert found.skipped.first.startswith("entry 6: ")
    assert found.replay is None


def test_a_log_longer_than_what_is_read_at_once(read: Read) -> None:
    assert len(read(json.dumps(LOG * 5000)).throughput[0].rate_bps) == 10_000


def test_a_log_without_any_capacity_is_refused(read: Read) -> None:
    with pytest.raises(FileError, match="every rate"):
        read(json.dumps([{"duration_ms": 1000, "bandwidth_kbps": 0}]))


# CSV


def test_csv_with_losses(read: Read) -> None:
    found = read("time_s,rtt_ms,lost\n0,12.5,0\n0.5,,1\n1,13,0\n")
    assert_allclose(rtt_s(found), [0.0125, 0.013])
    assert found.round_trips is not None
    assert_allclose(found.round_trips.time_s, [0, 1])
    assert found.fates[0].lost.tolist() == [False, True, False]
    assert found.fates[0].interval_s == 0.5


@pytest.mark.parametrize(
    "text",
    [
        '\ufeff"Time";"RTT (ms)"\r\n"0,5";"12,5"\r\n"1,5";"13"\r\n',
        "timestamp\tround trip time [s]\n1700000000.0\t0.0125\n1700000001.0\t0.013\n",
        "Timestamp,Latency\n2026-11-22T03:08:50Z,12.5\n2026-11-22T03:08:51Z,13\n",
        "epoch_ms,ping_us\n1700000000000,12500\n1700000001000,13000\n",
        "ts,rtt\n1700000000000,12.5\n1700000001000,13\n",
        "# exported\n# time,rtt_ms\n0,12.5\n1,13\n",
        "host,time_s,rtt_ms\nexample.org,0,12.5\nexample.org,1,13\n",
    ],
)
def test_csv_as_programs_write_it(read: Read, text: str) -> None:
    found = read(text)
    assert found.round_trips is not None
    assert_allclose(rtt_s(found), [0.0125, 0.013])
    assert_allclose(found.round_trips.time_s, [0, 1])
    assert found.fates == ()
    assert found.skipped is None


@pytest.mark.parametrize("word", ["", "-", "*", "nan", "timeout", "lost", "NULL"])
def test_a_round_trip_that_is_missing_is_a_loss(read: Read, word: str) -> None:
    found = read(f"n,rtt_ms\n1,12\n2,{word}\n3,13\n")
    assert found.fates[0].lost.tolist() == [False, True, False]


def test_csv_of_rates_both_ways(read: Read) -> None:
    found = read("time_s,download_mbps,upload_kbps\n0,10,500\n2,20,600\n4,30,700\n")
    assert [way.direction for way in found.throughput] == ["forward", "reverse"]
    assert_allclose(found.throughput[0].rate_bps, [10e6, 20e6, 30e6])
    assert_allclose(found.throughput[1].rate_bps, [5e5, 6e5, 7e5])
    assert_allclose(found.throughput[0].interval_s, 2)


def test_csv_of_a_capacity_with_round_trips(read: Read) -> None:
    found = read("duration_ms,bandwidth_kbps,latency_ms\n1000,800,60\n500,400,70\n")
    assert found.throughput[0].is_capacity
    assert_allclose(found.throughput[0].interval_s, [1, 0.5])
    assert found.throughput[0].rtt_s is not None
    assert_allclose(found.throughput[0].rtt_s, [0.06, 0.07])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("time_s,speed\n0,1\n1,2\n", "has no unit"),
        ("time_s,duration\n0,1\n1,2\n", "no column gives"),
        ("time_s,rtt_ms\n", "no rows"),
        ("time_s,rtt_ms\n0,\n1,\n", "no row has a round trip"),
        ("time_s,rtt_ms\n0,1\nx,y\na,b\n", "mixed"),
    ],
)
def test_csv_of_no_use_is_refused_with_the_reason(read: Read, text: str, why: str) -> None:
    with pytest.raises(FileError, match=why):
        read(text)


# One round trip a line


def test_round_trips_as_trace_prints_them(read: Read) -> None:
    assert_allclose(rtt_s(read("# cell, 500B packets: round trips in ms\n1\n2\n3\n")), [1e-3, 2e-3, 3e-3])


def test_whole_numbers_that_never_decrease_are_a_capacity_trace(read: Read) -> None:
    assert read("1\n2\n5\n5\n9\n").format.startswith("capacity trace")
    assert read("12\n11\n15\n5\n9\n").format == "round trips in ms"
    assert read("1.5\n2.5\n3\n").format == "round trips in ms"


def test_what_could_be_either_is_asked_for(read: Read) -> None:
    with pytest.raises(FileError, match="mahimahi or rtt"):
        read("100\n100\n100\n")
    assert_allclose(rtt_s(read("100\n100\n100\n", format="rtt")), 0.1)


# Any file


def test_a_packed_file_is_unpacked(read: Read) -> None:
    found = read(gzip.compress(json.dumps(LOG).encode()))
    assert_allclose(found.throughput[0].rate_bps, [8e5, 4e5])
    assert found.replay is None


def test_a_packed_capture_is_to_be_unpacked(read: Read) -> None:
    with pytest.raises(FileError, match="gunzip"):
        read(gzip.compress(b"\xd4\xc3\xb2\xa1" + bytes(100)))


def test_of_a_packed_file_that_breaks_off_the_good_part_is_used(read: Read) -> None:
    numbers = np.random.default_rng(1).random(100_000) * 100
    packed = gzip.compress("\n".join(f"{number:.6f}" for number in numbers).encode())
    found = read(packed[: len(packed) // 2])
    assert 1000 < len(rtt_s(found)) < 100_000
    assert "breaks off" in " ".join(found.notes)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b" \n\n", "blank lines only"),
        (b"\x7fELF\x02\x01\x01" + bytes(100), "binary data"),
        (b'name = "x"\n[[link]]\nrate = "1Mbit/s"\n', "a TOML scenario"),
        (b"# a comment\n\n[[link]]\nrate = 1\n", "a TOML scenario"),
        (b"Lorem ipsum dolor sit amet,\nconsetetur sadipscing elitr.\n", "unknown format"),
        (b"{}", "unknown format"),
        (b"import os\nprint(rtt, time)\nprint(1, rtt)\n", "unknown format"),
        (b"\x1f\x8b not really", "binary data"),
    ],
)
def test_what_is_no_measurement_is_refused_with_the_reason(read: Read, content: bytes, why: str) -> None:
    with pytest.raises(FileError, match=why):
        read(content)


def test_what_is_no_file_is_refused_with_the_reason(tmp_path: Path) -> None:
    import os  # noqa: PLC0415 posix only

    os.mkfifo(tmp_path / "pipe")
    for path, why in (
        (tmp_path, "a directory"),
        (tmp_path / "none", "no such file"),
        (tmp_path / "pipe", "save it"),
    ):
        with pytest.raises(FileError, match=why):
            detect.read(path)


def test_an_unknown_format_is_refused_with_those_there_are(read: Read) -> None:
    with pytest.raises(FileError, match=r"csv, .*ping"):
        read("1\n", format="pong")


def test_a_line_of_words_is_no_table_of_numbers(read: Read) -> None:
    with pytest.raises(FileError, match="unknown format"):
        read('[{"time_s": 0, "Loss (%)": 1}, {"time_s": 1, "Loss (%)": 0}]')


def test_a_scenario_is_told_from_a_measurement(tmp_path: Path) -> None:
    scenario, log = tmp_path / "a", tmp_path / "b"
    scenario.write_text('# mine\nname = "x"\n')
    log.write_text("PING a (192.0.2.1): 56 data bytes\n")
    assert detect.is_scenario(scenario)
    assert not detect.is_scenario(log)
    assert not detect.is_scenario(tmp_path / "none")
    assert not detect.is_scenario(tmp_path)


# The traces of real links


def real_traces() -> list[Path]:
    return sorted(TRACES.glob("*/*")) if TRACES.is_dir() else []


@pytest.mark.skipif(not real_traces(), reason=f"there are no traces in {TRACES}")
def test_traces_of_real_links() -> None:
    for path in real_traces():
        found = detect.read(path)
        (capacity,) = found.throughput
        assert found.replay is not None
        assert found.skipped is None
        mean_bps = np.dot(capacity.rate_bps, capacity.interval_s) / capacity.interval_s.sum()
        assert 1e5 < mean_bps < 2e7
        assert capacity.direction == ("reverse" if path.suffix == ".up" else "forward")


@pytest.mark.skipif(not real_traces(), reason=f"there are no traces in {TRACES}")
def test_the_rate_of_a_trace_is_that_of_its_opportunities() -> None:
    for path in TRACES.glob("mahimahi/*"):
        times = [int(word) for word in path.read_text().split()]
        (capacity,) = detect.read(path).throughput
        assert_allclose(np.dot(capacity.rate_bps, capacity.interval_s), len(times) * 12_000)
        assert_allclose(capacity.interval_s.sum(), times[-1] / 1e3)
