"""What a transfer shows of the rate: what arrived over several round trips, and never a burst.

Within a round trip or two a sender hands over a window, which says what the window was and not what the path
carries; and an application hands over what a buffer takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from airtcp.fit.evidence import SHORTEST_S, Evidence, From
from airtcp.fit.measurement import Direction, Floats, Throughput

SEVERAL = 5
"""Round trips that a rate takes."""
USUAL_ROUND_TRIP_S = 0.1
"""Stands in for an unknown one."""
REACHED_QUANTILE = 0.95
"""Of the times that long, one in twenty carried more: the rate when nothing held it back."""


@dataclass(frozen=True)
class Reached:
    """What a transfer carried."""

    rate_bps: float
    """Of IP packets. Over a shorter time it is a burst, and no rate."""
    within_s: float
    round_trips: float
    """How many that time takes."""
    is_quantile: bool
    """Whether `rate_bps` is that of the better times, and not of the whole."""
    is_best: bool = False
    """Whether it is that of the best time: nobody tried to fill the link at the others."""

    @property
    def is_rate(self) -> bool:
        return self.round_trips >= SEVERAL and self.rate_bps >= 1


def reached(evidence: Evidence, way: Direction) -> Reached | None:
    """Returns None without a transfer in that direction."""
    found = evidence.reached.get(way)
    if found is None:
        return None
    trip_s = _round_trip_s(found, evidence)
    if (arrived := found.what.arrived) is not None:
        return Reached(arrived.rate_bps, arrived.within_s, arrived.within_s / trip_s, is_quantile=False)
    within_s = float(found.what.interval_s.sum())
    rates = _rates(found.what, SEVERAL * trip_s)
    is_usage = found.what.is_usage
    best_bps = float(np.quantile(rates, 1.0 if is_usage else REACHED_QUANTILE))
    return Reached(best_bps, within_s, within_s / trip_s, is_quantile=len(rates) > 1, is_best=is_usage)


def _round_trip_s(found: From[Throughput], evidence: Evidence) -> float:
    """Returns the transfer's own round trip, else that of an idle path."""
    trips = found.source.round_trips
    if trips is None and evidence.idle is not None:
        trips = evidence.idle.what
    known = np.empty(0) if trips is None else trips.rtt_s[np.isfinite(trips.rtt_s) & (trips.rtt_s > 0)]
    return float(np.median(known)) if len(known) else USUAL_ROUND_TRIP_S


def _rates(throughput: Throughput, within_s: float) -> Floats:
    """Returns the rate from each interval on, over at least `within_s` or, if it is shorter, over the
    whole."""
    usable = throughput.interval_s >= SHORTEST_S
    lengths = throughput.interval_s[usable]
    at_s = np.concatenate(([0.0], np.cumsum(lengths)))
    bits = np.concatenate(([0.0], np.cumsum(throughput.rate_bps[usable] * lengths)))
    if len(at_s) < 2:
        return np.zeros(1)
    # A rounding error must not take one interval more, and a short time takes one at least.
    ends = np.searchsorted(at_s, at_s + within_s * (1 - 1e-9))
    ends = np.maximum(ends, np.arange(len(ends)) + 1)
    starts = np.flatnonzero(ends < len(at_s))
    if len(starts) == 0:
        return np.array([bits[-1] / at_s[-1]])
    rates: Floats = (bits[ends[starts]] - bits[starts]) / (at_s[ends[starts]] - at_s[starts])
    return rates
