"""What a transfer reached: what arrived over several round trips, never a burst; and what overflowed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from airtcp_studies.calibration.iperf3 import iperf3_tcp
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from airtcp import Fit, Scenario, fit
from airtcp.fit import fit_measurements
from airtcp.fit.detect import read
from airtcp.fit.evidence import gather
from airtcp.fit.measurement import Measurement, Offered, RoundTrips, Throughput
from airtcp.fit.overload import overload
from airtcp.fit.reached import reached

PATH = """
profile = "linux"
[[link]]
name = "path"
rate = "{rate}kbit/s"
delay = "{delay}ms"
queue = {{ packets = {room} }}
"""


def fitted(folder: Path, text: str) -> Fit:
    (folder / "result.json").write_text(text)
    return fit(folder / "result.json")


def shown(fit: Fit, quantity: str) -> str:
    return next((each.shown for each in fit.found if each.quantity.startswith(quantity)), "")


def short_transfer(sent: int, received: int, rtt_s: float) -> str:
    """What `iperf3 -n` writes of a transfer that is over before its first interval is."""
    total = {"start": 0, "end": 1e-3, "seconds": 1e-3, "bits_per_second": 8e3 * sent, "bytes": sent}
    arrived = {"start": 0, "end": rtt_s, "seconds": rtt_s, "bits_per_second": 8 * received / rtt_s}
    row = {**total, "retransmits": 0, "snd_cwnd": 14080, "rtt": int(rtt_s * 1e6)}
    end = {
        "sum_sent": {**total, "retransmits": 0},
        "sum_received": {**arrived, "bytes": received},
        "sender_tcp_congestion": "cubic",
    }
    start = {
        "version": "iperf 3.9",
        "tcp_mss_default": 1408,
        "test_start": {"protocol": "TCP", "num_streams": 1},
    }
    return json.dumps({"start": start, "intervals": [{"streams": [row], "sum": row}], "end": end})


@given(packets=st.integers(1, 60), ahead=st.integers(0, 40), rtt_ms=st.integers(2, 900))
@settings(max_examples=8, deadline=None, phases=[Phase.generate], derandomize=True)
def test_a_burst_of_writes_is_no_rate(
    tmp_path_factory: pytest.TempPathFactory, packets: int, ahead: int, rtt_ms: int
) -> None:
    text = short_transfer((packets + ahead) * 1408, packets * 1408, rtt_ms / 1e3)
    found = fitted(tmp_path_factory.mktemp("short"), text)
    assert not shown(found, "rate")
    rate = next(each for each in found.unknown if each.quantity == "rate")
    assert "1 round trip, in which" in rate.why
    most = 1 - 0.05 ** (1 / packets)
    assert float(shown(found, "loss").removeprefix("at most ").removesuffix(" %")) == pytest.approx(
        100 * most, rel=0.05
    )


@given(
    rate=st.integers(500, 2_000),
    delay=st.integers(5, 200),
    share=st.floats(0.5, 8),
    streams=st.integers(1, 3),
)
@settings(max_examples=4, deadline=None, phases=[Phase.generate], derandomize=True)
def test_at_least_is_never_more_than_the_link(
    tmp_path_factory: pytest.TempPathFactory, rate: int, delay: int, share: float, streams: int
) -> None:
    """Writes run ahead by the send buffer, whatever the queue."""
    room = max(10, round(share * rate * 2 * delay / 12_000))
    path = Scenario.parse(PATH.format(rate=rate, delay=delay, room=room))
    folder = tmp_path_factory.mktemp("known")
    text = iperf3_tcp(path, duration_s=8.0, streams=streams)
    whole = json.loads(text)
    cut = {**whole, "end": {}}
    for each in (text, json.dumps(cut)):
        (folder / "result.json").write_text(each)
        found = reached(gather([read(folder / "result.json")]), "forward")
        assert found is not None
        assert 0 < found.rate_bps <= 1.001e3 * rate


def rated(rates: Sequence[float], interval_s: float, rtt_s: float) -> Fit:
    n = len(rates)
    at_s = np.linspace(0.0, interval_s * n, n, endpoint=False, dtype=np.float64)
    throughput = Throughput(at_s, np.full(n, interval_s), np.array(rates), "forward", is_capacity=False)
    trips = RoundTrips(at_s, np.full(n, rtt_s))
    return fit_measurements(
        [Measurement(Path("x"), "x", round_trips=trips, throughput=(throughput,), load="forward")]
    )


def test_short_intervals_count_only_together() -> None:
    """Twice as much in every second interval of 0.1 s is a window's burst where a round trip takes 0.1 s."""
    assert rated([2e6, 0.0] * 50, 0.1, 0.1).rate_bps == pytest.approx(1.2e6)
    assert rated([2e6, 0.0] * 50, 0.1, 0.004).rate_bps == pytest.approx(2e6)


def udp(mbps: float, arrives: Sequence[float], *, reverse: bool) -> str:
    """`iperf3 -u`: sent at `mbps`; `arrives` is what arrives of it in each second, in Mbit/s."""
    packets = round(mbps * 1e6 / 8 / 1400)
    intervals: list[dict[str, Any]] = []
    for at, rate in enumerate(arrives):
        got = round(rate * 1e6 / 8 / 1400)
        row: dict[str, Any] = {"start": at, "end": at + 1, "seconds": 1.0, "packets": packets}
        row["bits_per_second"] = 8 * 1400 * (got if reverse else packets)
        row |= {"lost_packets": packets - got} if reverse else {}
        intervals.append({"streams": [row], "sum": row})
    lost = sum(packets - round(rate * 1e6 / 8 / 1400) for rate in arrives)
    total = {"seconds": len(arrives), "packets": packets * len(arrives), "lost_packets": lost}
    options = {"protocol": "UDP", "num_streams": 1, "blksize": 1400, "reverse": int(reverse)}
    end = {"streams": [{"udp": total}], "sum": total}
    return json.dumps(
        {"start": {"version": "iperf 3.9", "test_start": options}, "intervals": intervals, "end": end}
    )


@given(capacity=st.floats(1, 60), above=st.floats(1.3, 20), reverse=st.booleans())
@settings(max_examples=8, deadline=None, phases=[Phase.generate], derandomize=True)
def test_what_arrives_while_more_is_sent_is_the_capacity(
    tmp_path_factory: pytest.TempPathFactory, capacity: float, above: float, reverse: bool
) -> None:
    text = udp(capacity * above, [capacity] * 20, reverse=reverse)
    found = fitted(tmp_path_factory.mktemp("udp"), text)
    assert found.rate_bps == pytest.approx(capacity * 1e6 * 1428 / 1400, rel=0.01)
    assert "at least" not in shown(found, "rate")
    assert shown(found, "overflow")
    assert "loss =" not in found.toml.partition("[measurement]")[0]


@given(p=st.floats(0.001, 0.02), mbps=st.floats(2, 60), seed=st.integers(0, 1000))
@settings(max_examples=8, deadline=None, phases=[Phase.generate], derandomize=True)
def test_few_losses_that_vary_by_chance_are_the_link_s(p: float, mbps: float, seed: int) -> None:
    packets = np.full(20, round(mbps * 1e6 / 8 / 1400), dtype=np.float64)
    lost = np.random.default_rng(seed).binomial(packets.astype(int), p).astype(np.float64)
    found = overload(Offered(np.ones(20), packets, lost, "forward", 1428.0))
    assert found is None or not found.is_likely


def test_both_readings_are_listed_where_neither_is_certain(tmp_path: Path) -> None:
    found = fitted(tmp_path, udp(10.0, [9.9] * 20, reverse=True))
    (open_,) = [each for each in found.unknown if each.readings]
    assumed, other = open_.readings
    assert (assumed.keys, bool(other.keys)) == ((), True)
    assert assumed.likelihood is not None
    assert other.likelihood is not None
    assert assumed.likelihood > other.likelihood > 0.01
    assert assumed.likelihood + other.likelihood == pytest.approx(1)
    assert found.load(other.keys).run("cubic", 1) is not None
