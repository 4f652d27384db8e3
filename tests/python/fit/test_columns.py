"""Columns by name: whose they are, their units, several paths and runs in one table."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from airtcp.fit import detect
from airtcp.fit.measurement import Measurement
from airtcp.fit.quantities import quantity
from airtcp.fit.readers import FileError

Read = Callable[..., Measurement]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(text: str, **options: str) -> Measurement:
        path = tmp_path / "table.csv"
        path.write_text(text)
        return detect.read(path, **options)

    return read


def table(headings: str, *rows: tuple[object, ...]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([headings.split(","), *rows])
    return out.getvalue()


def mean_bps(found: Measurement, place: int = 0) -> float:
    rates = found.throughput[place]
    return float(np.dot(rates.rate_bps, rates.interval_s) / rates.interval_s.sum())


# Units


@pytest.mark.parametrize(
    ("heading", "scale"),
    [
        ("RATE(MBit/s)", 1e6), ("throughput_mbps", 1e6), ("downloadSpeedMbps", 1e6),
        ("Throughput (Mb/s)", 1e6),
        ("Throughput (MB/s)", 8e6), ("Throughput(KB/sec)", 8e3), ("rate_kBps", 8e3), ("throughput_Bps", 8),
        ("bytes_per_second", 8), ("Data rate Mbit/sec", 1e6), ("Débit (Mo/s)", 8e6), ("rate KiB/s", 8192),
        ("THROUGHPUT_MBPS", 1e6), ("down_mbps", 1e6), ("Mbps", 1e6),
        ("throughput (megabytes per second)", 8e6),
    ],
)  # fmt: skip
def test_a_unit_by_its_letters(heading: str, scale: float) -> None:
    found = quantity(heading)
    assert found is not None
    assert (found.kind, found.scale) == ("rate", scale)


@pytest.mark.parametrize(
    ("heading", "meanings"),
    [
        ("throughput_mb_s", "throughput_mbps, throughput_megabytes_per_second"),
        ("Throughput [MBPS]", "throughput_mbps, throughput_megabytes_per_second"),
        ("rate kb/s", "rate_kbps, rate_kilobytes_per_second"),
        ("downlinkThroughputBps", "throughput_bps, throughput_bytes_per_second"),
        (
            "Throughput",
            "throughput_bps, throughput_kbps, throughput_mbps, throughput_bytes_per_second, "
            "throughput_kilobytes_per_second, throughput_megabytes_per_second",
        ),
    ],
)
def test_a_unit_that_may_be_several_is_asked_for(read: Read, heading: str, meanings: str) -> None:
    with pytest.raises(FileError) as refused:
        read(table(f"time_s,{heading}", (0, 5), (1, 6)))
    assert f"`{heading}`" in str(refused.value)
    assert str(refused.value).endswith(f"rename it to what it is: {meanings}")


@pytest.mark.parametrize("heading", [
    "movingSpeed", "Speed (km/h)", "vehicle_speed", "GPS Speed", "jitter_ms", "one_way_delay_ms",
    "download bytes", "ping host", "rtt stddev (ms)",
])  # fmt: skip
def test_what_only_sounds_like_a_rate_or_a_round_trip(heading: str) -> None:
    assert quantity(heading) is None


def test_the_speed_of_a_vehicle_is_no_rate(read: Read) -> None:
    found = read(table("time_s,Speed,Throughput (Mbps)", (0, 50, 5), (1, 55, 7)))
    assert_allclose(found.throughput[0].rate_bps, [5e6, 7e6])
    with pytest.raises(FileError, match="vehicle"):
        read(table("time_s,speed", (0, 50), (1, 55)))


def test_round_trips_without_a_unit(read: Read) -> None:
    found = read(table("time_s,rtt", (0, 35), (1, 36)))
    assert found.round_trips is not None
    assert_allclose(found.round_trips.rtt_s, [0.035, 0.036])
    assert "ms are assumed" in " ".join(found.notes)
    for values in ((0.035, 0.036), (35_000, 36_000)):
        with pytest.raises(FileError, match="rtt_s, rtt_ms, rtt_us"):
            read(table("time_s,rtt", *enumerate(values)))


def test_values_that_bring_their_units(read: Read) -> None:
    found = read(
        table("start,server_ping,download", (0, "24.5 ms", "44.25 Mbits/s"), (60, "25 ms", "900 kbit/s"))
    )
    assert_allclose(found.throughput[0].rate_bps, [44.25e6, 9e5])
    assert found.round_trips is not None
    assert_allclose(found.round_trips.rtt_s, [0.0245, 0.025])


# Several paths


OPERATORS = ("Alpha", "Beta", "Gamma")


@pytest.mark.parametrize(
    "form", ["{}_throughput_mbps", "throughput_mbps_{}", "{} Throughput (Mbps)", "{} [Mbit/s]"]
)
def test_a_column_for_each_operator(read: Read, form: str) -> None:
    names = [form.format(name) for name in OPERATORS]
    text = table(
        f"protocol,seq_num,{','.join(names)}", *(("TCP", n, 200 + n, 60 + n, 900 + n) for n in range(30))
    )
    with pytest.raises(FileError) as refused:
        read(text)
    assert "3 columns in one file" in str(refused.value)
    assert all(name in str(refused.value) for name in names)
    assert mean_bps(read(text, only="beta")) == pytest.approx(74.5e6)


def test_ooklas_open_data(read: Read) -> None:
    found = read(table("avg_d_kbps,avg_u_kbps,avg_lat_ms,lat", (9000, 800, 31, 44.9), (9100, 810, 32, 44.9)))
    assert [rate.direction for rate in found.throughput] == ["forward", "reverse"]
    assert_allclose(found.throughput[0].rate_bps, [9e6, 9.1e6])
    assert found.round_trips is not None
    assert_allclose(found.round_trips.rtt_s, [0.031, 0.032])


PATHS = {("A", "East"): 28.0, ("A", "West"): 72.0, ("B", "East"): 50.0, ("B", "West"): 100.0}


@given(
    names=st.sampled_from(
        ["carrier,server_location", "operator,target", "ISP,region", "host,probe_id", "orbit,phase"]
    ),
    is_mixed=st.booleans(),
    has_times=st.booleans(),
)
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
def test_a_row_for_each_path(read: Read, names: str, is_mixed: bool, has_times: bool) -> None:
    """Whatever the columns are called: their names tell them apart, or floors that no queue explains."""
    rows = [(n, floor + n % 7, *path) for path, floor in PATHS.items() for n in range(40)]
    rows = sorted(rows, key=lambda row: row[0]) if is_mixed else rows
    text = table(f"rtt_ms,{names}", *(row[1:] for row in rows))
    if has_times:
        text = table(f"time_s,rtt_ms,{names}", *rows)
    with pytest.raises(FileError) as refused:
        read(text)
    assert "4 paths" in str(refused.value)
    for path, floor in PATHS.items():
        trips = read(text, only="/".join(path)).round_trips
        assert trips is not None
        assert (len(trips.rtt_s), trips.rtt_s.min()) == (40, pytest.approx(floor / 1e3))
        assert (np.diff(trips.time_s) >= 0).all()


@pytest.mark.parametrize("heading", ["probe", "iteration", "run", "session_id", "source"])
def test_a_number_that_counts_rows_tells_nothing_apart(read: Read, heading: str) -> None:
    found = read(table(f"{heading},rtt_ms", *((n, 30 + n % 7) for n in range(60))))
    assert found.round_trips is not None
    assert_allclose(found.round_trips.time_s, np.arange(60))
    assert "runs" not in " ".join(found.notes)


def test_words_that_tell_no_paths_apart(read: Read) -> None:
    rows = [(n, 30 + n % 7, ("idle", "busy")[n % 2], "x.example") for n in range(60)]
    found = read(table("time_s,rtt_ms,state,host", *rows))
    assert found.round_trips is not None
    assert len(found.round_trips.rtt_s) == 60
    assert "state" in " ".join(found.notes)


# Runs


def test_a_drive_test_with_runs(read: Read) -> None:
    headings = "run_num,seq_num,abstractSignalStr,movingSpeed,nrStatus,nr_ssRsrp,Throughput"
    rows = [(run, n + 1, 2, 30.5, "CONNECTED", -83.8, 100 * run) for run in (1, 2, 3) for n in range(20)]
    found = read(table(headings, *rows))
    (rates,) = found.throughput
    assert rates.is_capacity
    assert_allclose(rates.rate_bps, np.repeat([1e8, 2e8, 3e8], 20))
    assert_allclose(rates.interval_s, 1)
    assert "3 runs (column `run_num`)" in " ".join(found.notes)


def test_gnettrack_logs(read: Read) -> None:
    headings = "Timestamp,Speed,Operatorname,CellID,NetworkMode,RSRP,DL_bitrate,UL_bitrate,State,PINGAVG"
    rows = [
        (
            f"2019.12.14_10.16.{n:02}",
            40,
            "A",
            12,
            "5G",
            -90,
            *((9000, 200, "D") if n > 9 else (3, 1, "I")),
            40,
        )
        for n in range(30)
    ]
    found = read(table(headings, *rows))
    assert [(rate.direction, mean_bps(found, place)) for place, rate in enumerate(found.throughput)] == [
        ("forward", 9e6),
        ("reverse", 2e5),
    ]
    assert "10 rows without a transfer" in " ".join(found.notes)


@given(lengths=st.lists(st.integers(20, 60), min_size=2, max_size=4), has_names=st.booleans())
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
def test_runs_are_never_mixed(read: Read, lengths: list[int], has_names: bool) -> None:
    rows = [(run, n, 1 + run) for run, length in enumerate(lengths) for n in range(length)]
    text = table("run,time_s,capacity_mbps", *rows) if has_names else table(
        "time_s,capacity_mbps", *(row[1:] for row in rows)
    )  # fmt: skip
    (rates,) = read(text).throughput
    assert_allclose(rates.rate_bps, np.repeat(1e6 * (1 + np.arange(len(lengths))), lengths))
    assert_allclose(rates.interval_s, 1)


def test_pauses_do_not_count(read: Read) -> None:
    found = read(table("time_s,capacity_mbps", *((n + 3600 * (n > 9), 1 + (n > 9)) for n in range(20))))
    assert mean_bps(found) == pytest.approx(1.5e6)
    assert "Pauses" in " ".join(found.notes)


# Times


def test_times_as_date_prints_them(read: Read) -> None:
    rows = [(f"Mon Mar 07 18:47:{n:02} UTC 2022", -100, 1000 * n, 5 + n % 10) for n in range(0, 60, 3)]
    found = read(table("Time,nr_rsrp(dBm),Sent Bytes,RATE(MBit/s)", *rows))
    (rates,) = found.throughput
    assert rates.is_capacity
    assert_allclose(rates.interval_s, 3)
    assert mean_bps(found) == pytest.approx(9.5e6)


def test_a_time_in_an_unknown_form_is_named(read: Read) -> None:
    with pytest.raises(FileError, match=r"column `When`: times in an unknown format, line 2: `noon,3`"):
        read("When,rtt_ms\nnoon,3\none,4\n")


def test_date_and_time_of_day_stand_apart(read: Read) -> None:
    found = read(table("Date,Time,Ping (ms)", ("2020-06-12", "23:59:59", 30), ("2020-06-13", "00:00:01", 31)))
    assert found.round_trips is not None
    assert_allclose(found.round_trips.time_s, [0, 2])


def test_columns_in_german_and_french(read: Read) -> None:
    rows = [("Mo 7. Mär 18:47:41 CET 2022", "33,6", "5,3"), ("Mo 7. Mär 18:47:44 CET 2022", "34,6", "6,3")]
    found = read("Zeit;Latenz (ms);Durchsatz (MBit/s)\n" + "\n".join(map(";".join, rows)))
    assert_allclose(found.throughput[0].rate_bps, [5.3e6, 6.3e6])
    assert_allclose(found.throughput[0].interval_s, 3)
    found = read("Heure;Débit (Mo/s)\n18:47:41;5,3\n18:47:44;6,3\n")
    assert_allclose(found.throughput[0].rate_bps, [8 * 5.3e6, 8 * 6.3e6])


def test_a_time_beside_unknown_columns_is_no_round_trip(read: Read) -> None:
    with pytest.raises(FileError, match="the columns are: time, Verizon, ATT"):
        read(table("time,Verizon,ATT", (0, 100, 50), (1, 101, 52), (2, 103, 53)))
    found = read(table("icmp_seq,ttl,time", (1, 56, 30.5), (2, 56, 31.5), (3, 56, 29.5)))
    assert found.round_trips is not None
    assert_allclose(found.round_trips.rtt_s, [0.0305, 0.0315, 0.0295])


def test_a_table_without_a_known_name_shows_its_columns(read: Read) -> None:
    with pytest.raises(FileError, match="the columns are: Alpha, Beta, Gamma"):
        read(table("Alpha,Beta,Gamma", (1, 2, 3), (4, 5, 6), (7, 8, 9)))
