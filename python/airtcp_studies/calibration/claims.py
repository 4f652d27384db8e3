"""What a fit claims of a known path, beside the truth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from airtcp.fit import Fit, NothingArrives, fit
from airtcp.fit.findings import Value
from airtcp.fit.holes import Hole
from airtcp.fit.measurement import Direction
from airtcp.fit.path_settled import is_policed
from airtcp.fit.reached import reached
from airtcp_studies.calibration.paths import TRANSFERS, KnownPath, Limit, Tool

EXACT = 1e-3
"""Relative error that a value without chance may have: four digits are printed."""
_AT_LEAST = re.compile(r"at least (\d+) packets")


@dataclass(frozen=True)
class Measured:
    """The files in which a tool has written what it saw of a known path."""

    tool: Tool
    files: tuple[Path, ...]
    packet_bytes: int
    """Of the packets whose round trips it has, there and back."""
    hosts_s: float = 0.0
    """What of a round trip the hosts and the tool take themselves, at most."""


@dataclass(frozen=True)
class Claim:
    """An interval or a bound for one quantity of one path."""

    quantity: str
    tool: Tool
    low: float | None
    high: float | None
    truth: float
    known_to: float = 0.0
    """How far the truth may be from that."""

    @property
    def is_interval(self) -> bool:
        return self.low is not None and self.high is not None

    @property
    def holds(self) -> bool:
        room = max(EXACT * abs(self.truth), self.known_to)
        low = None if self.low is None else self.low - room
        high = None if self.high is None else self.high + room
        return Value(self.truth, low, high).includes(self.truth)


@dataclass(frozen=True)
class Told:
    """Whether a fit says that a path has something, beside whether it has."""

    what: Limit
    tool: Tool
    is_there: bool
    is_said: bool


@dataclass(frozen=True)
class Claims:
    """All that a fit claims."""

    of: tuple[Claim, ...]
    told: tuple[Told, ...]


def claims(path: KnownPath, measured: Measured) -> Claims:
    """Fits a measurement, as anybody would."""
    fitted, holes = _fitted(measured.files)
    tool = measured.tool
    told = [Told("hole", tool, path.limit == "hole", bool(holes))]
    if fitted is None or holes or path.limit == "hole":
        return Claims((), tuple(told))
    if tool in TRANSFERS:
        told.append(Told("policer", tool, path.limit == "policer", _is_policed(fitted)))
    of = [*_delays(path, measured, fitted), *_losses(path, tool, fitted), *_rate(path, tool, fitted)]
    return Claims((*of, *_queue(path, tool, fitted)), tuple(told))


def _fitted(files: tuple[Path, ...]) -> tuple[Fit | None, tuple[Hole, ...]]:
    try:
        fitted = fit(files)
    except NothingArrives as found:
        return None, found.holes
    return fitted, fitted.holes


def _is_policed(fitted: Fit) -> bool:
    return fitted._settled is not None and fitted._settled.what.best.cause == "policer"


def _delays(path: KnownPath, measured: Measured, fitted: Fit) -> Iterator[Claim]:
    """The round trip's floor, and mean and deviation of round trips."""
    delay, tool = fitted.delay, measured.tool
    if delay is None:
        return
    known_to = measured.hosts_s / 2
    base = 2 * path.delay_s + known_to
    if fitted._settled is None or fitted._evidence.idle is not None:
        # What is settled by a search has no packet's own time in it.
        base += 8 * measured.packet_bytes / path.link_bps
    low_s = 0.0 if path.jitter != "uniform" else path.jitter_mean_s - path.jitter_deviation_s * 3**0.5
    floor = base + max(0.0, low_s)
    yield Claim("round trip without a queue", tool, delay.base_s.low, delay.base_s.high, floor, known_to)
    if path.jitter == "none" or delay.whole is None:
        return
    varies = delay.variation
    mean = base + path.jitter_mean_s
    if varies is not None:
        of_mean, of_deviation, shift = varies.interval.mean, varies.interval.deviation, delay.base_s.best
    else:
        of_mean, of_deviation, shift = delay.whole.mean, delay.whole.deviation, 0.0
    yield from _claim("mean round trip", tool, of_mean, mean, shift, known_to)
    yield from _claim("standard deviation of round trips", tool, of_deviation, path.jitter_deviation_s)


def _claim(
    quantity: str, tool: Tool, value: Value, truth: float, shift: float = 0.0, known_to: float = 0.0
) -> Iterator[Claim]:
    if value.low is not None or value.high is not None:
        ends = [None if end is None else end + shift for end in (value.low, value.high)]
        yield Claim(quantity, tool, ends[0], ends[1], truth, known_to)


def _losses(path: KnownPath, tool: Tool, fitted: Fit) -> Iterator[Claim]:
    if tool == "ping under load":
        # The queue that the transfer fills loses its packets, too.
        return
    there_and_back: dict[Direction, float] = {
        "forward": path.loss,
        "reverse": path.loss,
        "both": 1 - (1 - path.loss) ** 2,
    }
    for way, of in fitted._estimates.losses.items():
        if (tool == "capture" and way == "reverse") or is_policed(fitted._settled, of):
            continue
        share = of.loss.share
        yield Claim("loss", tool, share.low if of.loss.lost else None, share.high, there_and_back[way])


def _rate(path: KnownPath, tool: Tool, fitted: Fit) -> Iterator[Claim]:
    seen = fitted._evidence.link_rate.get("forward")
    settled = fitted._settled
    if settled is not None:
        transfer = settled.source.transfer
        arrived = transfer.arrived if transfer else None
        at_least = arrived.rate_bps if arrived else settled.what.best.rate_bps
        low, high = settled.what.rate_between or (at_least, None)
        yield Claim("rate", tool, low, high, path.rate_bps)
    elif seen is not None and seen.what.estimate_bps is not None:
        # The bounds that the finding states; it leaves out an upper one below the estimate.
        estimate = seen.what.estimate_bps
        at_most = max(seen.what.at_most_bps or estimate, estimate)
        yield Claim("rate", tool, min(seen.what.at_least_bps, estimate), at_most, path.rate_bps)
    elif "forward" in fitted._evidence.reached:
        found = reached(fitted._evidence, "forward")
        if found is not None and found.is_rate:
            yield Claim("rate", tool, found.rate_bps, None, path.rate_bps)


def _queue(path: KnownPath, tool: Tool, fitted: Fit) -> Iterator[Claim]:
    for found in fitted.found:
        least = _AT_LEAST.match(found.shown)
        if found.quantity == "room in the queue in the forward direction" and least:
            yield Claim("room in the queue", tool, float(least[1]), None, path.queue_packets)
