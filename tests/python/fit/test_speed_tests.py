"""Speed tests: whatever the program and its units, one test gives the same lower bounds and round trips."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from speed_test_dialects import DIALECTS, NDT7, OOKLA, Facts, ndt_rows, speedtest_cli

from airtcp.fit import detect, fit
from airtcp.fit.measurement import Measurement
from airtcp.fit.readers import FileError
from airtcp.fit.readers.speedtest.result import percent_of

Read = Callable[..., Measurement]
FACTS = Facts(down_bps=40e6, up_bps=8e6, idle_ms=23.45, least_ms=22.0)


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(text: str, **options: str) -> Measurement:
        path = tmp_path / "result"
        path.write_text(text)
        return detect.read(path, **options)

    return read


def rates(found: Measurement) -> dict[str, float]:
    return {
        each.direction: float(np.dot(each.rate_bps, each.interval_s) / each.interval_s.sum())
        for each in found.throughput
    }


@pytest.mark.parametrize("name", DIALECTS)
@given(
    down_bps=st.floats(1e5, 5e9),
    up_bps=st.floats(1e5, 5e9),
    idle_ms=st.floats(1.0, 900.0),
    count=st.integers(1, 3),
)
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
def test_every_program_means_the_same(
    read: Read, name: str, down_bps: float, up_bps: float, idle_ms: float, count: int
) -> None:
    facts = Facts(down_bps, up_bps, idle_ms, 0.9 * idle_ms)
    found = read("".join(DIALECTS[name](facts) for _ in range(count)))
    assert found.format.startswith("speed test")
    assert rates(found) == pytest.approx({"forward": down_bps, "reverse": up_bps}, rel=0.02)
    assert not any(each.is_capacity for each in found.throughput)
    trips = found.round_trips
    if trips is not None:
        least_s = float(trips.rtt_s.min()) if trips.least_s is None else trips.least_s
        assert 0.89e-3 * idle_ms <= least_s <= 1.01e-3 * idle_ms
    assert found.is_seen_from_far


def test_ookla_in_whole(read: Read) -> None:
    found = read(OOKLA(FACTS))
    (loss,) = found.loss_counts
    assert loss.lost / loss.packets == pytest.approx(0.012, rel=0.01)
    assert {room.direction: room.is_full for room in found.queue_rooms} == {
        "forward": False,
        "reverse": False,
    }
    notes = " ".join(found.notes)
    assert "88.2ms (22.9ms to 310.1ms) under the download" in notes


def test_ndt7_in_whole(read: Read, tmp_path: Path) -> None:
    found = read(NDT7(FACTS))
    assert found.transfer is not None
    assert found.transfer.congestion_control == "bbr"
    share = found.transfer.retransmissions / (found.transfer.data_packets + found.transfer.retransmissions)
    assert share == pytest.approx(0.0119, rel=0.05)
    assert found.round_trips is not None
    assert found.round_trips.least_s == pytest.approx(0.022)
    assert found.is_loaded
    text = fit(tmp_path / "result").toml
    assert "at least 40Mbit/s" in text
    assert "kbps" not in text


def test_progress_of_ookla_is_no_result(read: Read) -> None:
    progress = {"type": "download", "download": {"bandwidth": 99, "bytes": 1, "elapsed": 1, "progress": 0.1}}
    assert rates(read(json.dumps(progress) + "\n" + OOKLA(FACTS)))["forward"] == pytest.approx(40e6)
    with pytest.raises(FileError, match="no result of a speed test"):
        read(json.dumps(progress) * 3)


def test_servers_are_told_apart(read: Read) -> None:
    second: dict[str, Any] = json.loads(OOKLA(FACTS))
    second["server"]["name"] = "Far"
    second["ping"]["low"] = 91.0
    text = OOKLA(FACTS) + json.dumps(second) + "\n"
    with pytest.raises(FileError, match="2 servers in one file"):
        read(text)
    trips = read(text, only="Far").round_trips
    assert trips is not None
    assert trips.least_s == pytest.approx(0.091)


def test_a_test_that_ended_early_keeps_what_it_has(read: Read) -> None:
    found = read("\n".join(NDT7(FACTS).splitlines()[:20]) + '\n{"Key": "measure')
    assert rates(found) == pytest.approx({"forward": 40e6}, rel=0.02)
    assert found.skipped is not None


@given(packets=st.integers(20, 3000), share=st.floats(0.001, 0.9))
def test_a_share_takes_no_more_packets_than_it_must(packets: int, share: float) -> None:
    lost = max(1, round(packets * share))
    found = percent_of(100 * lost / packets)
    if lost == packets:
        assert found is None
    else:
        assert found is not None
        assert found.denominator <= packets
        assert float(found) == pytest.approx(lost / packets, abs=5.1e-4)


def test_no_loss_of_an_unknown_number_bounds_nothing(read: Read) -> None:
    found = read(OOKLA(FACTS).replace('"packetLoss": 1.2', '"packetLoss": 0'))
    assert found.loss_counts == ()
    assert "bounds nothing" in " ".join(found.notes)


def test_rows_of_m_lab_s_views(read: Read) -> None:
    found = read(ndt_rows(FACTS) * 3)
    assert rates(found) == pytest.approx({"forward": 40e6})
    assert found.round_trips is not None
    assert found.round_trips.least_s == pytest.approx(0.022)


def test_half_an_hour_is_a_server_that_did_not_answer(read: Read) -> None:
    """speedtest-cli adds an hour for each failure, and divides by two."""
    found = read(speedtest_cli(Facts(down_bps=40e6, up_bps=8e6, idle_ms=1_800_000.0, least_ms=22.0)))
    assert found.round_trips is None
    assert rates(found) == pytest.approx({"forward": 40e6, "reverse": 8e6})
