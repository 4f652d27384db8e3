"""The lowest round trip, and the distribution of what is above it.

What is above is assumed log-normal, like the simulator's `correlated` jitter, if a log-normal is like it: if
mean, standard deviation, median and 95th percentile agree. Idle and loaded stretches are told apart before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from airtcp.fit.correlation import Correlation, correlation
from airtcp.fit.episodes import Episode, separate
from airtcp.fit.findings import Value
from airtcp.fit.floor import FEW, base_round_trip, seen_base
from airtcp.fit.levels import Levels, find_levels
from airtcp.fit.log_normal import LogNormal, Shifts, contradiction, log_normals, shape_contradiction
from airtcp.fit.measurement import Floats, RoundTrips
from airtcp.fit.moments import Moments, log_normal_moments, moments
from airtcp.fit.steps import Steps

NEGLIGIBLE = 0.005
"""A standard deviation below this share of the lowest round trip, or below 0.1 ms, counts as no variation."""
ENOUGH = 100
"""Among fewer, none is too short to be plausible;"""
NEAR_ALL = 0.3
"""nor if the first percentile is below this share of the median."""
OVERTAKES = 0.05
"""By how many standard deviations delays would be longer on average if nothing overtook, for it to count."""
STALL_STEPS = 8
"""A stall is taken as this many waits, from none to its length."""


@dataclass(frozen=True)
class Variation:
    """A log-normal distribution above the base."""

    above: LogNormal
    """Of seconds."""
    interval: Moments
    """Mean and deviation above the base, with their intervals."""
    measured_deviation_s: float
    """Deviation of the round trips themselves: the fitted tail may be longer than any of them."""
    misfit: float
    """Largest distance between the measured and the fitted distribution function (Kolmogorov)."""
    correlation: Correlation

    @property
    def mean_s(self) -> float:
        return self.above.mean

    @property
    def deviation_s(self) -> float:
        return self.above.deviation

    @property
    def sigma(self) -> float:
        """Standard deviation of the logarithm."""
        return self.above.sigma

    @property
    def mu(self) -> float:
        """Mean of the logarithm of seconds."""
        return self.above.mu


@dataclass(frozen=True)
class Delay:
    """What round trips show. All times are round trips."""

    base_s: Value
    least_s: float
    """The lowest plausible round trip."""
    dropped: int
    """Round trips too short to be plausible, after a clock was set."""
    variation: Variation | None
    spikes: Episode | None
    stalls: Episode | None
    n: int
    unlike: str = ""
    """How far off the best log-normal is, if it contradicts the round trips. Then there is no `variation`."""
    levels: Levels | None = None
    """Idle and loaded stretches. Then there is no `variation`, and neither spikes nor stalls."""
    whole: Moments | None = None
    """Mean and deviation of all round trips; None on a loaded path."""
    steps: Steps | None = None
    """HARQ's steps, if the scenario has them. Then there is no `variation`, and neither spikes nor stalls."""


def fit_delay(trips: RoundTrips, *, is_idle: bool = True) -> Delay | None:
    """Fits the delay; None without any round trip. On a loaded path only the lowest round trip is used."""
    time, rtt, dropped = believable(trips)
    if len(rtt) == 0:
        return None
    least = float(rtt.min())
    if not is_idle or trips.least_s is not None:
        # Smoothed values exceed the lowest round trip.
        least = least if trips.least_s is None else min(trips.least_s, least)
        return Delay(Value(least, None, least), least, dropped, None, None, None, len(rtt))
    whole, seen = moments(rtt), seen_base(rtt)
    levels = find_levels(time, rtt)
    if levels is not None:
        return Delay(
            seen, least, dropped, None, None, None, len(rtt), "two levels", levels, Moments(*_bare(whole))
        )
    calm, spikes, stalls = separate(time, rtt)
    base, variation, unlike = _fitted(time[calm], rtt[calm])
    if variation is not None and (spikes or stalls):
        unlike = contradiction(rtt - base.best, variation.above, _shifts(spikes, stalls))
    if variation is not None and overtakes(time, rtt):
        unlike = "answers in order, but those measured overtake"
    if unlike:
        return Delay(seen, least, dropped, None, None, None, len(rtt), unlike, None, whole)
    return Delay(base, least, dropped, variation, spikes, stalls, len(rtt[calm]), "", None, whole)


def believable(trips: RoundTrips) -> tuple[Floats, Floats, int]:
    """Drops invalid times, and the few that are far below all others, which are near one another."""
    real = np.isfinite(trips.rtt_s) & np.isfinite(trips.time_s) & (trips.rtt_s > 0)
    time, rtt = trips.time_s[real], trips.rtt_s[real]
    if len(rtt) >= ENOUGH:
        usual = np.partition(rtt, max(2, len(rtt) // 100))[max(2, len(rtt) // 100)]
        sound = rtt >= (usual / 2 if usual > NEAR_ALL * float(np.median(rtt)) else 0.0)
        time, rtt = time[sound], rtt[sound]
    order = np.argsort(time, kind="stable")
    return time[order], rtt[order], len(trips.rtt_s) - len(rtt)


def overtakes(time: Floats, delay: Floats) -> bool:
    """Returns whether packets that must wait for those sent before would be late."""
    in_order = np.maximum.accumulate(time + delay) - time
    return float((in_order - delay).mean()) > OVERTAKES * float(delay.std())


def _fitted(time: Floats, rtt: Floats) -> tuple[Value, Variation | None, str]:
    """Returns the base, the log-normal above it, and what contradicts the best one if none will do."""
    base = base_round_trip(rtt)
    above = rtt - base.best
    if len(rtt) < FEW or float(above.std()) < max(1e-4, NEGLIGIBLE * base.best):
        seen = seen_base(rtt)
        return Value(seen.best, base.low, seen.high), None, ""
    fits = log_normals(above)
    wrong = [contradiction(above, fit) or shape_contradiction(misfit, len(above)) for misfit, fit in fits]
    if all(wrong):
        return base, None, wrong[0]
    misfit, fit = fits[wrong.index("")]
    interval = log_normal_moments(above, (fit.mean, fit.deviation))
    return base, Variation(fit, interval, float(above.std()), misfit, correlation(time, above)), ""


def _bare(found: Moments) -> tuple[Value, Value]:
    """Returns the moments without intervals: what they will be depends on how long the path is loaded."""
    return Value(found.mean.best), Value(found.deviation.best)


def _shifts(spikes: Episode | None, stalls: Episode | None) -> Shifts:
    """Returns which share of the time delays are how much longer."""
    found: list[tuple[float, float]] = []
    if spikes is not None:
        found.append((spikes.length_s / (spikes.every_s.best + spikes.length_s), spikes.extra_s))
    if stalls is not None:
        share = stalls.length_s / (stalls.every_s.best + stalls.length_s) / STALL_STEPS
        found += [(share, stalls.length_s * (step + 0.5) / STALL_STEPS) for step in range(STALL_STEPS)]
    return [(1 - sum(share for share, _ in found), 0.0), *found]
