"""Formats of data sets and services: traces without a heading, RIPE Atlas, a Starlink dish's history."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from airtcp.fit import detect
from airtcp.fit.measurement import Measurement
from airtcp.fit.readers import FileError

Read = Callable[..., Measurement]
SOME = settings(max_examples=20, suppress_health_check=list(HealthCheck))


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(text: str, **options: str) -> Measurement:
        path = tmp_path / "data"
        path.write_text(text)
        return detect.read(path, **options)

    return read


def mean_bps(found: Measurement) -> float:
    (rates,) = found.throughput
    assert rates.is_capacity
    return float(np.dot(rates.rate_bps, rates.interval_s) / rates.interval_s.sum())


RATES = st.lists(st.floats(0.01, 900).map(lambda mbps: round(mbps, 6)), min_size=5, max_size=60)


@given(
    mbps=RATES, separator=st.sampled_from(["\t", " ", ",", "  "]), begin=st.sampled_from([0.0, 0.25, 1.6e9])
)
@SOME
def test_cooked_traces(read: Read, mbps: list[float], separator: str, begin: float) -> None:
    found = read("".join(f"{begin + n:.6f}{separator}{rate:.6f}\n" for n, rate in enumerate(mbps)))
    assert mean_bps(found) == pytest.approx(1e6 * np.mean(mbps), rel=1e-6)
    assert "s and Mbit/s" in " ".join(found.notes)


@given(
    received=st.lists(st.integers(0, 10**8), min_size=5, max_size=60),
    step_ms=st.integers(300, 3000),
    scale=st.sampled_from([1, 1000]),
)
@SOME
def test_bus_logs(read: Read, received: list[int], step_ms: int, scale: int) -> None:
    received[0] = 1000
    lines = [
        f"{(1284402502 + n) * scale} {n * step_ms} 59.84 -10.77 {amount} {step_ms}\n"
        for n, amount in enumerate(received, 1)
    ]
    found = read("".join(lines))
    assert mean_bps(found) == pytest.approx(8e3 * np.mean(received) / step_ms, rel=1e-6)


@pytest.mark.parametrize("text", ["1 2\n", "5 1\n4 1\n3 1\n2 1\n", "a b\nc d\n", "1 2 3\n2 3 4\n"])
def test_what_is_no_trace(read: Read, text: str) -> None:
    with pytest.raises(FileError):
        read(text)


def test_numbers_without_names_are_asked_for_names(read: Read) -> None:
    with pytest.raises(FileError, match="without a heading; put the columns' names with their units above"):
        read("0,12.5,0\n1,13.5,1\n2,12,0\n")


# RIPE Atlas


def ping(probe: int, at_s: int, *rtts: float | None, target: str = "x.example") -> dict[str, Any]:
    results: list[dict[str, Any]] = [{"x": "*"} if rtt is None else {"rtt": rtt} for rtt in rtts]
    return {
        "fw": 5020, "af": 4, "dst_name": target, "dst_addr": "192.0.2.1", "prb_id": probe, "msm_id": 1,
        "sent": 3, "rcvd": 3, "size": 48, "timestamp": at_s, "type": "ping",
        "result": [*results, {"rtt": 99.0, "dup": 1}],
    }  # fmt: skip


def traceroute(at_s: int, last: str) -> dict[str, Any]:
    def hop(n: int, host: str, rtt: float) -> dict[str, Any]:
        return {"hop": n, "result": [{"from": host, "rtt": rtt + k, "ttl": 60, "size": 28} for k in range(3)]}

    return {
        "fw": 5020, "af": 4, "dst_name": "x.example", "dst_addr": "192.0.2.1", "prb_id": 7, "msm_id": 2,
        "timestamp": at_s, "type": "traceroute", "result": [hop(1, "198.51.100.1", 1.0), hop(2, last, 30.0)],
    }  # fmt: skip


@pytest.mark.parametrize("is_list", [True, False])
def test_pings_of_a_probe(read: Read, is_list: bool) -> None:
    results = [ping(7, 1_700_000_000 + 240 * n, 20.0 + n, None, 21.0) for n in range(10)]
    found = read(json.dumps(results) if is_list else "\n".join(map(json.dumps, results)))
    assert found.format == "RIPE Atlas"
    assert found.round_trips is not None
    assert len(found.round_trips.rtt_s) == 20
    assert_allclose(found.round_trips.time_s[:3], [0, 2, 240])
    assert found.round_trips.packet_bytes == 76
    assert found.fates[0].lost.mean() == pytest.approx(1 / 3)


@given(probes=st.lists(st.integers(1, 70_000), min_size=2, max_size=5, unique=True))
@SOME
def test_probes_and_targets_are_told_apart(read: Read, probes: list[int]) -> None:
    results = [ping(probe, n, 10.0 + place) for n in range(4) for place, probe in enumerate(probes)]
    text = json.dumps(results)
    with pytest.raises(FileError, match=f"{len(probes)} probes and targets"):
        read(text)
    for place, probe in enumerate(probes):
        trips = read(text, only=f"probe {probe} to").round_trips
        assert trips is not None
        assert_allclose(trips.rtt_s, (10 + place) / 1e3)


def test_a_traceroute_counts_if_it_reached_its_target(read: Read) -> None:
    found = read(json.dumps([traceroute(1, "192.0.2.1"), traceroute(900, "203.0.113.9")]))
    assert found.round_trips is not None
    assert_allclose(found.round_trips.rtt_s, [0.030, 0.031, 0.032])
    assert found.fates[0].lost.tolist() == [False] * 3 + [True] * 3
    assert "did not reach" in " ".join(found.notes)
    with pytest.raises(FileError, match="no target answered"):
        read(json.dumps([traceroute(1, "203.0.113.9")]))


# A Starlink dish


@given(current=st.integers(0, 5000), is_camel=st.booleans(), is_bare=st.booleans())
@SOME
def test_the_history_of_a_dish_is_a_ring(read: Read, current: int, is_camel: bool, is_bare: bool) -> None:
    size = 90
    seconds = range(max(0, current - size), current) if current else range(size)
    ring = {name: [0.0] * size for name in ("popPingDropRate", "popPingLatencyMs", "downlinkThroughputBps")}
    for second in seconds:
        ring["popPingLatencyMs"][second % size] = 30.0 + second / 100
        ring["downlinkThroughputBps"][second % size] = 2e6
    snake = {"popPingDropRate": "pop_ping_drop_rate", "popPingLatencyMs": "pop_ping_latency_ms",
             "downlinkThroughputBps": "downlink_throughput_bps"}  # fmt: skip
    history: dict[str, Any] = {name if is_camel else snake[name]: values for name, values in ring.items()}
    history["current"] = str(current) if is_camel else current
    name = "dishGetHistory" if is_camel else "dish_get_history"
    found = read(json.dumps(history if is_bare else {"apiVersion": "9", name: history}))
    assert found.round_trips is not None
    assert_allclose(found.round_trips.rtt_s, [0.030 + second / 1e5 for second in seconds])
    assert_allclose(found.throughput[0].rate_bps, 2e6)


def test_a_second_without_an_answer_is_a_loss(read: Read) -> None:
    history = {
        "current": "4",
        "popPingDropRate": [0, 1, 0.5, 0],
        "popPingLatencyMs": [30.0, 30.0, 31.0, 32.0],
    }
    found = read(json.dumps({"dishGetHistory": history}))
    assert found.round_trips is not None
    assert_allclose(found.round_trips.rtt_s, [0.030, 0.031, 0.032])
    lost = sum(float(fates.lost.sum()) for fates in found.fates) + sum(
        count.lost for count in found.loss_counts
    )
    assert lost > 0
