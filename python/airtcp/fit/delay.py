"""The lowest round trip, and the distribution of what is above it.

What is above is assumed log-normal, like the simulator's `correlated` jitter, if a log-normal is like it: if
mean, standard deviation, median and 95th percentile agree. Idle and loaded stretches are told apart before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from airtcp.fit.correlation import Correlation, correlation
from airtcp.fit.episodes import Episode, separate
from airtcp.fit.findings import CONFIDENCE, Value
from airtcp.fit.levels import Levels, find_levels
from airtcp.fit.log_normal import LogNormal, Shifts, contradiction, log_normals, shape_contradiction, thinned
from airtcp.fit.measurement import Floats, RoundTrips
from airtcp.fit.moments import Moments, log_normal_moments, moments

NEGLIGIBLE = 0.005
"""A standard deviation below this share of the lowest round trip, or below 0.1 ms, counts as no variation."""
SHARES = np.geomspace(1e-3, 1, 40)
"""How far below the lowest round trip bases are tried, as shares of the farthest."""
FARTHEST = 0.5
"""No base is tried further below the lowest round trip than this share of it."""
LOWEST_SHARE = 0.05
"""Nor further than this share of the round trips is above it, which is what they resolve."""
LOWEST_FEW = 5
RESAMPLES = 100
MOST_RESAMPLED = 5000
FEW = 20
"""Fewer round trips show no distribution."""
ENOUGH = 100
"""Among fewer, none is too short to be plausible;"""
NEAR_ALL = 0.3
"""nor if the first percentile is below this share of the median."""
OVERTAKES = 0.05
"""By how many standard deviations delays would be longer on average if nothing overtook, for it to count."""
STALL_STEPS = 8
"""Waits of a stall are taken as so many, from none to its length."""


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
    whole, seen = moments(rtt), _seen_base(rtt)
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
        seen = _seen_base(rtt)
        return Value(seen.best, base.low, seen.high), None, ""
    fits = log_normals(above)
    wrong = [contradiction(above, fit) or shape_contradiction(misfit, len(above)) for misfit, fit in fits]
    if all(wrong):
        return base, None, wrong[0]
    misfit, fit = fits[wrong.index("")]
    interval = log_normal_moments(above, (fit.mean, fit.deviation))
    return base, Variation(fit, interval, float(above.std()), misfit, correlation(time, above)), ""


def _seen_base(rtt: Floats) -> Value:
    """Returns the least round trip, which is known to half a step of the clock."""
    least, step = float(rtt.min()), clock_step(rtt)
    return Value(least, max(least / 2, least - step / 2), least + step / 2)


def clock_step(rtt: Floats) -> float:
    """Returns what the values are multiples of: the least distance of two that differ; 0 for equal ones."""
    distinct = np.unique(np.round(rtt, 9))
    return float(np.diff(distinct).min()) if len(distinct) > 1 else 0.0


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


def base_round_trip(rtt: Floats) -> Value:
    """Returns the round trip without any queueing, where a log-normal's quantiles best match the measured
    ones.

    The interval comes from a bootstrap over blocks of successive round trips, which are correlated.
    """
    least = float(rtt.min())
    if len(rtt) < FEW or float(rtt.max()) == least:
        return _seen_base(rtt)
    random = np.random.default_rng(0)
    sample = rtt[:: -(-len(rtt) // MOST_RESAMPLED)]
    block = max(1, round(len(sample) ** (1 / 3)))
    starts = random.integers(0, len(sample) - block + 1, (RESAMPLES, -(-len(sample) // block)))
    again = [_shift(sample[(row[:, None] + np.arange(block)).ravel()]) for row in starts]
    best = _shift(rtt)
    low, high = np.quantile(again, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Value(best, min(best, float(low)), max(best, min(float(high), least)))


def _shift(rtt: Floats) -> float:
    """Returns the greatest base, up to the lowest value, that keeps the probability plot nearly as straight
    as possible.

    The plot's correlation coefficient (Filliben 1975) is flat for nearly symmetric distributions; a tenth of
    its shortfall is not significant. No base is further below the lowest value than the lowest values are
    apart, and none below half of it: packets take time.
    """
    from scipy.special import ndtri  # noqa: PLC0415 slow to import

    values = thinned(rtt)
    least = float(values[0])
    scores = ndtri((np.arange(len(values)) + 0.5) / len(values))
    lowest = float(values[min(len(values) - 1, max(LOWEST_FEW, int(LOWEST_SHARE * len(values))))])
    farthest = max(lowest - least, clock_step(rtt))
    gaps = min(FARTHEST * least, farthest) * SHARES
    floor = 1e-3 * float(np.median(values) - least) + 1e-9
    logs = np.log((values - least + floor)[None, :] + gaps[:, None])
    logs -= logs.mean(axis=1, keepdims=True)
    straight = (logs @ scores) / np.sqrt((logs**2).sum(axis=1) * (scores**2).sum())
    near_best = np.flatnonzero(1 - straight <= 1.1 * (1 - straight.max()))
    return least - float(gaps[near_best[0]])
