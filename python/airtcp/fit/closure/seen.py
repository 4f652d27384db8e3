"""What is known of a transfer, measured or simulated, and how far two of them are apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from airtcp.fit.measurement import Floats, Measurement

FIRST = 3
"""Intervals at the start that are compared one by one: how slow start went shows the empty path."""
GOODPUT, ROUND_TRIP, CWND, RESENT, BUSY, FIRST_TRIPS, FIRST_CWNDS = 0.015, 0.03, 0.05, 0.5, 0.8, 0.1, 0.12
"""How far the same transfer on a right model may be off, beside chance: of logarithms, and of 2√count."""
UNEVEN, EVEN = 0.35, 0.02
"""The same of how much the rate varies, as the logarithm of a share: of one beyond 2 %."""
RESENT_SHARE = 0.1
"""The same of retransmissions, as a share of 2√count."""
FAR = 5.0
"""No feature counts for more than this many standard deviations: a model need not be right in all."""


@dataclass(frozen=True)
class Seen:
    """A transfer. The series have one value per interval, NaN where it is unknown."""

    goodput_bps: float
    """Payload that arrived, over the time until the last of it did."""
    srtt_s: Floats
    cwnd_bytes: Floats
    resent: Floats
    received: Floats
    """Rate at which data arrived in each interval, in any unit."""
    starts: bool = True
    """Whether the first interval is the transfer's beginning."""
    resent_in_all: float = float("nan")
    """Retransmissions, where it is unknown when they were."""

    @property
    def round_trip_s(self) -> float:
        """Mean of the smoothed round trips."""
        return float(np.nanmean(self.srtt_s)) if np.isfinite(self.srtt_s).any() else float("nan")

    @property
    def retransmissions(self) -> float:
        return float(np.nansum(self.resent)) if np.isfinite(self.resent).any() else self.resent_in_all

    def first(self, count: int) -> Seen:
        """Returns the first intervals; the goodput stays that of the whole."""
        share = min(1.0, count / max(1, len(self.srtt_s)))
        return replace(
            self,
            srtt_s=self.srtt_s[:count],
            cwnd_bytes=self.cwnd_bytes[:count],
            resent=self.resent[:count],
            received=self.received[:count],
            resent_in_all=share * self.resent_in_all,
        )


def measured(source: Measurement) -> Seen | None:
    """Returns None if the file does not say enough."""
    transfer = source.transfer
    if transfer is None or transfer.course is None or transfer.arrived is None:
        return None
    if transfer.arrived.ip_bytes <= 0 or transfer.arrived.within_s <= 0:
        return None
    course = transfer.course
    payload = transfer.arrived.rate_bps * transfer.payload_share
    starts = bool(course.end_s[0] <= 1.5 * course.interval_s[0])
    in_all = float(transfer.retransmissions)
    received = _received(source, len(course.end_s))
    return Seen(payload, course.srtt_s, course.cwnd_bytes, course.resent, received, starts, in_all)


def _received(source: Measurement, count: int) -> Floats:
    """Returns the rate of each interval if the receiver counted it, and not what was written."""
    for throughput in source.throughput:
        is_received = throughput.direction == "forward" and throughput.arrived is None
        if is_received and len(throughput.rate_bps) == count:
            return throughput.rate_bps
    return np.full(count, np.nan)


def misfit(one: Seen, runs: Sequence[Seen]) -> float:
    """Returns how far `one` is from `runs`: −2 times the logarithm of its likelihood, beside that of a
    transfer that agrees with a model in which nothing is left to chance."""
    off, wide = _apart(one, runs)
    near, count = np.minimum(off, FAR**2), len(runs)
    if count > 1:
        # A spread that is known from a few runs makes it Student's t.
        near = count * np.log1p(near / (count - 1))
    return float((near + wide).sum())


def is_usual(one: Seen, runs: Sequence[Seen]) -> bool:
    """Returns whether chance explains how far `one` is from `runs`, be it ever so much better explained
    otherwise."""
    off, _ = _apart(one, runs)
    freedom = len(off)
    # The 95 % quantile of χ² (Wilson and Hilferty 1931).
    most = freedom * (1 - 2 / (9 * freedom) + 1.645 * math.sqrt(2 / (9 * freedom))) ** 3
    return bool(off.sum() <= most)


def _apart(one: Seen, runs: Sequence[Seen]) -> tuple[Floats, Floats]:
    """Returns, for each known feature, the squared distance in variances of the runs, and how much more these
    are than a right model without chance would have, as a logarithm."""
    goal = _features(one)
    found = np.array([_features(run) for run in runs])
    count = len(found)
    spread = found.var(axis=0, ddof=1) * (1 + 1 / count) if count > 1 else np.zeros(len(goal))
    allowed = np.array([GOODPUT] + [ROUND_TRIP] * 3 + [CWND, RESENT, BUSY, UNEVEN])
    allowed[5] += RESENT_SHARE * goal[5] if np.isfinite(goal[5]) else 0.0
    allowed = np.concatenate((allowed, [FIRST_TRIPS] * FIRST, [FIRST_CWNDS] * FIRST))
    off = (goal - found.mean(axis=0)) ** 2 / (allowed**2 + spread)
    known = np.isfinite(off)
    return off[known], np.log1p(spread[known] / allowed[known] ** 2)


def _features(seen: Seen) -> Floats:
    trips = seen.srtt_s[np.isfinite(seen.srtt_s)]
    known = seen.resent[np.isfinite(seen.resent)]
    quantiles = np.quantile(trips, [0.1, 0.9]) if len(trips) else np.full(2, np.nan)
    counts = [seen.retransmissions, (known > 0).sum() if len(known) else np.nan]
    cwnd = np.nanmean(seen.cwnd_bytes) if np.isfinite(seen.cwnd_bytes).any() else np.nan
    logs = np.array([seen.goodput_bps, seen.round_trip_s, *quantiles, cwnd])
    first = [_first(values, seen.starts) for values in (seen.srtt_s, seen.cwnd_bytes)]
    with np.errstate(divide="ignore", invalid="ignore"):
        features: Floats = np.concatenate(
            (np.log(logs), 2 * np.sqrt(counts), [_unevenness(seen.received)], *map(np.log, first))
        )
    features[~np.isfinite(features)] = np.nan
    return features


def _unevenness(received: Floats) -> float:
    """Returns the logarithm of how much the rate varies from interval to interval, as a share of its mean."""
    known = received[np.isfinite(received)]
    if len(known) < FIRST or not known.mean() > 0:
        return float("nan")
    return float(np.log(EVEN + known.std() / known.mean()))


def _first(values: Floats, starts: bool) -> Floats:
    found = np.full(FIRST, np.nan)
    if starts:
        found[: len(values[:FIRST])] = values[:FIRST]
    return found
