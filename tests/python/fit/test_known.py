"""What a transfer's first packets tell of the empty path, no search need look for; and no base is longer than
any round trip."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from airtcp_studies.calibration.iperf3 import iperf3_tcp
from airtcp_studies.calibration.ss import ss_log
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from airtcp import Scenario
from airtcp.fit.closure.again import repeated
from airtcp.fit.closure.known import Known, least_base
from airtcp.fit.closure.searching import Search
from airtcp.fit.closure.seen import measured
from airtcp.fit.closure.starts import Starts
from airtcp.fit.detect import read
from airtcp.fit.findings import Value
from airtcp.fit.measurement import Measurement


def path(rate_kbps: int, rtt_ms: float, queue: int, loss: float) -> Scenario:
    return Scenario.build(
        profile="linux",
        link=[
            {
                "name": "path",
                "rate": f"{rate_kbps}kbit/s",
                "delay": f"{rtt_ms / 2}ms",
                "queue": {"packets": queue},
                "loss": {"packet": loss},
                "reverse": {"loss": {}},
            }
        ],
    )


def search(found: Measurement, known: Known) -> Search:
    assert found.transfer is not None
    transfer, seen = repeated(found.transfer, 2000), measured(found)
    assert transfer is not None
    assert seen is not None
    return Search(Starts(transfer, seen.first(transfer.intervals), known))


@given(
    rate=st.integers(2000, 12_000),
    rtt_ms=st.integers(10, 200),
    queue=st.integers(10, 200),
    loss=st.sampled_from([0.0, 0.01, 0.03]),
    seed=st.integers(1, 100),
)
@settings(max_examples=8, deadline=None, phases=[Phase.generate], derandomize=True)
def test_the_least_round_trip_tells_the_base(
    tmp_path_factory: pytest.TempPathFactory, rate: int, rtt_ms: int, queue: int, loss: float, seed: int
) -> None:
    folder, scenario = tmp_path_factory.mktemp("known"), path(rate, rtt_ms, queue, loss)
    (folder / "ss.txt").write_text(ss_log(scenario, seed=seed, duration_s=6.0))
    scenario.vary(duration="6s").run("cubic", seed, pcap=str(folder / "transfer.pcapng"))
    for name in ("ss.txt", "transfer.pcapng"):
        found = read(folder / name)
        base = least_base(found)
        if name == "transfer.pcapng" and base is None:
            # A packet of the handshake was sent again.
            assert loss > 0
            continue
        assert base is not None
        assert base.includes(rtt_ms / 1e3), name
        assert base.low is not None
        assert base.high is not None
        assert found.transfer is not None
        assert found.transfer.arrived is not None
        assert base.high - base.low <= 12_500 / found.transfer.arrived.rate_bps


def test_minrtt_is_of_the_last_minutes_only(tmp_path: Path) -> None:
    """A log that begins later does not have the handshake's."""
    file, log = tmp_path / "ss.txt", ss_log(path(5000, 100, 50, 0.0), duration_s=4.0)
    file.write_text(log)
    assert least_base(read(file)) is not None
    times = {f"busy:{n}00ms": f"busy:{400_000 + 100 * n}ms" for n in range(2, 41, 2)}
    for short, late in times.items():
        log = log.replace(short, late)
    file.write_text(log)
    found = read(file).transfer
    assert found is not None
    assert found.course is not None
    assert found.course.end_s[0] > 400
    assert found.least_s is None


@given(rtt_ms=st.integers(10_000, 200_000), shown=st.sampled_from(["both", "rounded"]))
@settings(max_examples=4, deadline=None, phases=[Phase.generate], derandomize=True)
def test_whole_milliseconds_are_rounded_down(
    tmp_path_factory: pytest.TempPathFactory, rtt_ms: int, shown: str
) -> None:
    """Timestamps tell round trips of packets that were sent again, and may be the least by rounding."""
    file, base_ms = tmp_path_factory.mktemp("rounded") / "ss.txt", rtt_ms / 1e3 + 0.5
    text = ss_log(path(5000, base_ms, 50, 0.0), duration_s=4.0)
    least_ms = re.findall(r"minrtt:(\S+)", text)[-1]
    rounded = f"minrtt:{math.floor(float(least_ms))}"
    first, last = text[: len(text) // 2], text[len(text) // 2 :]
    first = first if shown == "both" else re.sub(r"minrtt:\S+", rounded, first)
    file.write_text(first + re.sub(r"minrtt:\S+", rounded, last))
    base = least_base(read(file))
    assert base is not None
    assert base.includes(base_ms / 1e3)


def test_a_known_base_is_not_looked_for(tmp_path: Path) -> None:
    file = tmp_path / "ss.txt"
    file.write_text(ss_log(path(5000, 60, 60, 0.0), duration_s=8.0))
    found = read(file)
    base = least_base(found)
    assert base is not None
    looked = search(found, Known(5e6, base))
    settled = looked.settle()
    assert settled is not None
    assert settled.base_between == (base.low, base.high)
    assert {tried.base_s for tried in looked.tried} == {base.best}


@pytest.mark.parametrize("loss", [0.0, 0.02])
def test_no_base_is_longer_than_a_round_trip(tmp_path: Path, loss: float) -> None:
    file = tmp_path / "result.json"
    file.write_text(iperf3_tcp(path(3000, 30, 40, loss), seed=3, duration_s=8.0))
    found = read(file)
    assert found.round_trips is not None
    least_s = float(found.round_trips.rtt_s.min())
    looked = search(found, Known())
    settled = looked.settle()
    assert settled is not None
    assert max(tried.base_s for tried in looked.tried) <= least_s
    low, high = settled.base_between
    assert low <= 0.03 <= high <= least_s


def test_chance_does_not_end_an_interval(tmp_path: Path) -> None:
    """Of paths with losses at random, one that ends it has run with more seeds than a first look takes."""
    file = tmp_path / "result.json"
    file.write_text(iperf3_tcp(path(6000, 40, 60, 0.02), seed=3, duration_s=8.0))
    looked = search(read(file), Known())
    assert looked.settle() is not None
    for farthest in (min, max):
        end = farthest(looked._alike(), key=lambda tried: tried.base_s)
        assert end.cause == "random"
        assert end in looked.confirmed


def test_a_value_without_ends_is_taken_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "ss.txt"
    file.write_text(ss_log(path(5000, 60, 60, 0.0), duration_s=6.0))
    settled = search(read(file), Known(5e6, Value(0.06))).settle()
    assert settled is not None
    assert settled.base_between == (0.06, 0.06)


def test_fates_that_exclude_a_policer_leave_none_to_look_for(tmp_path: Path) -> None:
    file = tmp_path / "ss.txt"
    file.write_text(ss_log(path(5000, 60, 60, 0.02), duration_s=6.0))
    found = read(file)
    assert list(search(found, Known()).starts.policer())
    assert not list(search(found, Known(may_be_policed=False)).starts.policer())
