"""Tables as people write them: stand-ins for values, coarse clocks, names that mean something else."""

from __future__ import annotations

import math
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
SOME = settings(max_examples=25, suppress_health_check=list(HealthCheck))


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(text: str, **options: str) -> Measurement:
        path = tmp_path / "table.csv"
        path.write_text(text)
        return detect.read(path, **options)

    return read


@given(
    rtts=st.lists(st.none() | st.integers(3, 900), min_size=5, max_size=40),
    stand_in=st.sampled_from(["-1", "0", "-1.0", "", "*", "timeout", "nan"]),
    bare=st.booleans(),
)
@SOME
def test_what_is_no_round_trip_is_a_packet_without_an_answer(
    read: Read, rtts: list[int | None], stand_in: str, bare: bool
) -> None:
    rtts[:2] = [21, 20]
    words = [stand_in if rtt is None else str(rtt) for rtt in rtts]
    if bare and stand_in and rtts.count(None) * 2 < len(rtts):
        found = read("\n".join(words), format="rtt")
    else:
        found = read("time_s,rtt_ms\n" + "".join(f"{n},{word}\n" for n, word in enumerate(words)))
    assert found.round_trips is not None
    assert_allclose(found.round_trips.rtt_s, [rtt / 1e3 for rtt in rtts if rtt is not None])
    assert sum(int(each.lost.sum()) for each in found.fates) == rtts.count(None)
    assert found.skipped is None


@given(unit=st.sampled_from([1e-3, 1e3]), rtts=st.lists(st.integers(20, 900), min_size=3, max_size=20))
@SOME
def test_a_bare_list_in_another_unit_is_refused(read: Read, unit: float, rtts: list[int]) -> None:
    with pytest.raises(FileError, match="could be s, ms or µs"):
        read("\n".join(f"{unit * rtt:.6f}" for rtt in rtts), format="rtt")


def test_a_bare_list_of_times_is_none_of_round_trips(read: Read) -> None:
    with pytest.raises(FileError, match="only grow"):
        read("\n".join(f"{2 * n}.5" for n in range(30)))


@given(shares=st.lists(st.sampled_from([0.0, 0.001, 0.004, 0.005, 0.25]), min_size=40, max_size=80))
@SOME
def test_a_small_share_of_losses_is_not_rounded_away(read: Read, shares: list[float]) -> None:
    shares[0] = 0.005
    rows = "".join(f"{n},20,{100 * share:.2f}\n" for n, share in enumerate(shares))
    (fates,) = read("time_s,rtt_ms,loss_pct\n" + rows).fates
    assert float(fates.lost.mean()) == pytest.approx(float(np.mean(shares)), abs=0.5 / len(fates.lost) + 1e-9)


def test_a_count_of_answers_is_no_share(read: Read) -> None:
    found = read("time_s,rtt_ms,received\n" + "".join(f"{n},20,{9 + n % 2}\n" for n in range(20)))
    assert not found.fates
    assert any("`received` is left out" in note for note in found.notes)


def test_beside_a_short_round_trip_another_one_is_rounded_to_zero(read: Read) -> None:
    found = read("time_s,rtt_ms\n0,1\n1,0\n2,1\n")
    assert found.round_trips is not None
    assert len(found.round_trips.rtt_s) == 3
    assert not found.fates


@given(per_second=st.integers(1, 12), seconds=st.integers(2, 12), tick_s=st.sampled_from([1, 5]))
@SOME
def test_rows_of_a_coarse_clock_all_count(read: Read, per_second: int, seconds: int, tick_s: int) -> None:
    """Rates that differ within a tick: all of them count, for the time that they took."""
    rows = per_second * seconds * tick_s
    rates = [1 + n % 7 for n in range(rows)]
    text = "time_s,rate_mbps\n" + "".join(
        f"{n // (per_second * tick_s) * tick_s},{rate}\n" for n, rate in enumerate(rates)
    )
    (found,) = read(text).throughput
    assert_allclose(found.rate_bps, np.array(rates) * 1e6)
    assert_allclose(found.interval_s, 1 / per_second)


def test_a_time_that_stands_still_is_none(read: Read) -> None:
    (found,) = read("timestamp,rate_mbps\n" + "1700000000,5\n" * 8).throughput
    assert_allclose(found.interval_s, 1.0)


@pytest.mark.parametrize("heading", ["rtt_min", "ping min", "latency_min_ms", "RTT (min)", "min_rtt"])
def test_the_least_round_trip_is_not_one_in_minutes(heading: str) -> None:
    found = quantity(heading)
    assert found is not None
    assert (found.kind, found.statistic) == ("rtt", "least")
    assert found.scale in {None, 1e-3}


@pytest.mark.parametrize(
    "heading",
    ["link_speed_mbps", "Link speed (Mbit/s)", "tx bitrate [MBit/s]", "rx_bitrate", "phy_rate_mbps", "MCS"],
)
def test_rates_of_a_radio_s_frames_are_no_throughput(heading: str) -> None:
    assert quantity(heading) is None


@given(
    time=st.sampled_from(["time_s", "t", "Zeit", "seconds", "x"]),
    value=st.sampled_from(
        ["jitter_ms", "one_way_delay_ms", "rssi", "temperature", "Verz\ufffdgerung (ms)", "y"]
    ),
    separator=st.sampled_from([",", ";", "\t", " "]),
)
@SOME
def test_no_column_with_another_name_becomes_a_rate(
    read: Read, time: str, value: str, separator: str
) -> None:
    rows = "".join(f"{n}{separator}{20 + n % 5}\n" for n in range(30))
    with pytest.raises(FileError):
        read(f"{time}{separator}{value}\n{rows}")


@given(kbps=st.lists(st.integers(1001, 90_000), min_size=5, max_size=30))
@SOME
def test_a_bare_trace_in_another_unit_is_refused(read: Read, kbps: list[int]) -> None:
    with pytest.raises(FileError, match="may be Mbit/s, kbit/s"):
        read("".join(f"{n}.5 {rate}\n" for n, rate in enumerate(kbps)), format="steps")


def test_households_are_told_apart(read: Read) -> None:
    rows = "".join(f"{unit},{n},{rtt + n % 3}\n" for unit, rtt in ((7, 20), (9, 80)) for n in range(12))
    with pytest.raises(FileError, match="paths \\(unit_id\\)"):
        read("unit_id,time_s,rtt_ms\n" + rows)
    found = read("unit_id,time_s,rtt_ms\n" + rows, only="9")
    assert found.round_trips is not None
    assert math.isclose(float(found.round_trips.rtt_s.min()), 0.08)
