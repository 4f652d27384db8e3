"""What a fit claims of a known path, beside the truth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from airtcp import fit
from airtcp.fit import Fit
from airtcp.fit.findings import Value
from airtcp.fit.measurement import Direction
from airtcp.fit.reached import reached
from airtcp.running.scratch import scratch_folder
from airtcp_studies.calibration.iperf3 import iperf3_tcp
from airtcp_studies.calibration.paths import KnownPath
from airtcp_studies.calibration.probes import ICMP_BYTES, Probes, irtt_json, ping_log, probe

PROBES = 600
SPACING_S = 0.2
UDP_BYTES = 200
"""Of irtt's probes here, with headers."""
CAPTURED_S, TRANSFERRED_S = 30.0, 20.0
FULL_BYTES, ACK_BYTES = 1500, 52
EXACT = 1e-3
"""Relative error that a value without chance may have: four digits are printed."""
_AT_LEAST = re.compile(r"at least (\d+) packets")


@dataclass(frozen=True)
class Claim:
    """An interval or a bound for one quantity of one path."""

    quantity: str
    low: float | None
    high: float | None
    truth: float

    @property
    def is_interval(self) -> bool:
        return self.low is not None and self.high is not None

    @property
    def holds(self) -> bool:
        room = EXACT * abs(self.truth)
        low = None if self.low is None else self.low - room
        high = None if self.high is None else self.high + room
        return Value(self.truth, low, high).includes(self.truth)


def claims(path: KnownPath) -> list[Claim]:
    """Measures the path in the simulator, fits, and returns what is claimed."""
    with scratch_folder() as folder:
        fitted, packet_bytes = fit_of(path, folder)
        return [
            *_delays(path, fitted, packet_bytes),
            *_losses(path, fitted),
            *_rate(path, fitted),
            *_queue(path, fitted),
        ]


def fit_of(path: KnownPath, folder: Path) -> tuple[Fit, int]:
    """Returns the fit, and the bytes of the packets whose round trips it has, there and back."""
    seed = path.number + 1
    if path.tool == "capture":
        file = folder / "transfer.pcapng"
        flow = [{"name": "main", "start": "0s"}]
        scenario = path.scenario.vary(duration=f"{CAPTURED_S}s", flow=flow)
        scenario.run("cubic", seed, pcap=str(file))
        return fit(file), FULL_BYTES + ACK_BYTES
    if path.tool == "iperf3":
        file = folder / "iperf3.json"
        file.write_text(iperf3_tcp(path.scenario, "cubic", seed, duration_s=TRANSFERRED_S))
        return fit(file), FULL_BYTES + ACK_BYTES
    size = ICMP_BYTES if path.tool == "ping" else UDP_BYTES
    probes: Probes = probe(path.scenario, seed, count=PROBES, interval_s=SPACING_S, packet_bytes=size)
    file = folder / ("ping.log" if path.tool == "ping" else "irtt.json")
    file.write_text(ping_log(probes) if path.tool == "ping" else irtt_json(probes))
    return fit(file), 2 * size


def _delays(path: KnownPath, fitted: Fit, packet_bytes: int) -> Iterator[Claim]:
    """The round trip's floor, and mean and deviation of round trips."""
    delay = fitted.delay
    if delay is None:
        return
    base = 2 * path.delay_s + 8 * packet_bytes / path.rate_bps
    low_s = 0.0 if path.jitter != "uniform" else path.jitter_mean_s - path.jitter_deviation_s * 3**0.5
    floor = base + max(0.0, low_s)
    yield Claim("round trip without a queue", delay.base_s.low, delay.base_s.high, floor)
    if path.jitter == "none" or delay.whole is None:
        return
    varies = delay.variation
    mean = base + path.jitter_mean_s
    if varies is not None:
        of_mean, of_deviation, shift = varies.interval.mean, varies.interval.deviation, delay.base_s.best
    else:
        of_mean, of_deviation, shift = delay.whole.mean, delay.whole.deviation, 0.0
    yield from _claim("mean round trip", of_mean, mean, shift)
    yield from _claim("standard deviation of round trips", of_deviation, path.jitter_deviation_s)


def _claim(quantity: str, value: Value, truth: float, shift: float = 0.0) -> Iterator[Claim]:
    if value.low is not None or value.high is not None:
        ends = [None if end is None else end + shift for end in (value.low, value.high)]
        yield Claim(quantity, ends[0], ends[1], truth)


def _losses(path: KnownPath, fitted: Fit) -> Iterator[Claim]:
    there_and_back: dict[Direction, float] = {
        "forward": path.loss,
        "reverse": path.loss,
        "both": 1 - (1 - path.loss) ** 2,
    }
    for way, of in fitted._estimates.losses.items():
        if path.tool == "capture" and way == "reverse":
            continue
        share = of.loss.share
        yield Claim("loss", share.low if of.loss.lost else None, share.high, there_and_back[way])


def _rate(path: KnownPath, fitted: Fit) -> Iterator[Claim]:
    seen = fitted._evidence.link_rate.get("forward")
    settled = fitted._settled
    if seen is not None and seen.what.estimate_bps is not None:
        # The bounds that the finding states; it leaves out an upper one below the estimate.
        estimate = seen.what.estimate_bps
        at_most = max(seen.what.at_most_bps or estimate, estimate)
        yield Claim("rate", min(seen.what.at_least_bps, estimate), at_most, path.rate_bps)
    elif settled is not None and settled.what.rate_between is not None:
        yield Claim("rate", *settled.what.rate_between, path.rate_bps)
    elif "forward" in fitted._evidence.reached:
        found = reached(fitted._evidence, "forward")
        if found is not None and found.is_rate:
            yield Claim("rate", found.rate_bps, None, path.rate_bps)


def _queue(path: KnownPath, fitted: Fit) -> Iterator[Claim]:
    for found in fitted.found:
        least = _AT_LEAST.match(found.shown)
        if found.quantity == "room in the queue in the forward direction" and least:
            yield Claim("room in the queue", float(least[1]), None, path.queue_packets)
