"""The lowest round trip, and the distribution of what is above it.

What is above is assumed log-normal, like the simulator's `correlated` jitter, if a log-normal is like it: if
mean, standard deviation, median and 95th percentile agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from airtcp.fit.correlation import Correlation, correlation
from airtcp.fit.episodes import Episode, separate
from airtcp.fit.findings import CONFIDENCE, Value, Z
from airtcp.fit.measurement import Floats, RoundTrips

QUANTILES = 500
"""Number of quantiles of the round trips to which a curve is fitted."""
NEGLIGIBLE = 0.005
"""A standard deviation below this share of the lowest round trip, or below 0.1 ms, counts as no variation."""
SHARES = np.geomspace(1e-3, 1, 40)
"""How far below the lowest round trip bases are tried, as shares of the farthest."""
FARTHEST = 0.5
"""No base is tried further below the lowest round trip than this share of it."""
RESAMPLES = 100
MOST_RESAMPLED = 5000
FEW = 20
"""Fewer round trips show no distribution."""
NEAR = 0.25
"""How far mean, median and 95th percentile of a fit may be from those measured, in standard deviations."""
ALIKE = 1.4
"""How many times as large as the other one, fitted and measured standard deviation may be."""

FAR_OFF = 0.15
"""How far the distribution functions may be apart, beside what chance explains."""
KOLMOGOROV = 0.9
"""Times the square root of the number, what chance explains of that distance (Lilliefors, 95 %)."""
QUANTILES_HELD = (("median", 0.5), ("95th percentile", 0.95))


@dataclass(frozen=True)
class Variation:
    """A log-normal distribution above the base."""

    mean_s: float
    deviation_s: float
    measured_deviation_s: float
    """Deviation of the round trips themselves: the fitted tail may be longer than any of them."""
    misfit: float
    """Largest distance between the measured and the fitted distribution function (Kolmogorov)."""
    correlation: Correlation

    @property
    def sigma(self) -> float:
        """Standard deviation of the logarithm."""
        return _of_logs(self.mean_s, self.deviation_s)[1]

    @property
    def mu(self) -> float:
        """Mean of the logarithm of seconds."""
        return _of_logs(self.mean_s, self.deviation_s)[0]


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


def fit_delay(trips: RoundTrips, *, is_idle: bool = True) -> Delay | None:
    """Fits the delay; None without any round trip. On a loaded path only the lowest round trip is used."""
    time, rtt, dropped = _believable(trips)
    if len(rtt) == 0:
        return None
    if not is_idle or trips.least_s is not None:
        # Smoothed values exceed the lowest round trip.
        least = float(rtt.min()) if trips.least_s is None else min(trips.least_s, float(rtt.min()))
        return Delay(Value(least, None, least), least, dropped, None, None, None, len(rtt))
    calm, spikes, stalls = separate(time, rtt)
    time, rtt = time[calm], rtt[calm]
    base = base_round_trip(rtt)
    least = float(rtt.min())
    above = rtt - base.best
    deviation = float(above.std())
    if len(rtt) < FEW or deviation < max(1e-4, NEGLIGIBLE * base.best):
        return Delay(Value(least, base.low, least), least, dropped, None, spikes, stalls, len(rtt))
    fits = _log_normals(above)
    wrong = [_contradiction(above, *each) for each in fits]
    if all(wrong):
        return Delay(base, least, dropped, None, spikes, stalls, len(rtt), wrong[0])
    misfit, mean, fitted = fits[wrong.index("")]
    variation = Variation(mean, fitted, deviation, misfit, correlation(time, above))
    return Delay(base, least, dropped, variation, spikes, stalls, len(rtt))


def _believable(trips: RoundTrips) -> tuple[Floats, Floats, int]:
    """Drops invalid times, and the few that are below half of the first percentile."""
    real = np.isfinite(trips.rtt_s) & np.isfinite(trips.time_s) & (trips.rtt_s > 0)
    time, rtt = trips.time_s[real], trips.rtt_s[real]
    if len(rtt) >= FEW:
        usual = np.partition(rtt, max(2, len(rtt) // 100))[max(2, len(rtt) // 100)]
        sound = rtt >= usual / 2
        time, rtt = time[sound], rtt[sound]
    order = np.argsort(time, kind="stable")
    return time[order], rtt[order], len(trips.rtt_s) - len(rtt)


def base_round_trip(rtt: Floats) -> Value:
    """Returns the round trip without any queueing, where a log-normal's quantiles best match the measured
    ones.

    The interval comes from a bootstrap over blocks of successive round trips, which are correlated.
    """
    least = float(rtt.min())
    if len(rtt) < FEW or float(rtt.max()) == least:
        return Value(least, None, least)
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
    its shortfall is not significant. No base is further below the lowest value than that is below the upper
    quartile, and none below half of it: packets take time.
    """
    from scipy.special import ndtri  # noqa: PLC0415 slow to import

    values = _thinned(rtt)
    least = float(values[0])
    scores = ndtri((np.arange(len(values)) + 0.5) / len(values))
    gaps = min(FARTHEST * least, float(np.quantile(values, 0.75)) - least) * SHARES
    floor = 1e-3 * float(np.median(values) - least) + 1e-9
    logs = np.log((values - least + floor)[None, :] + gaps[:, None])
    logs -= logs.mean(axis=1, keepdims=True)
    straight = (logs @ scores) / np.sqrt((logs**2).sum(axis=1) * (scores**2).sum())
    near_best = np.flatnonzero(1 - straight <= 1.1 * (1 - straight.max()))
    return least - float(gaps[near_best[0]])


def _thinned(values: Floats) -> Floats:
    ordered: Floats = np.sort(values)
    if len(ordered) > QUANTILES:
        ordered = np.quantile(ordered, (np.arange(QUANTILES) + 0.5) / QUANTILES)
    return ordered


def _log_normals(above: Floats) -> list[tuple[float, float, float]]:
    """Returns misfit, mean and deviation of two fits, the better one first: by moments of the logarithms and
    of the values."""
    values = _thinned(above)
    floor = max(1e-6, 1e-3 * float(np.median(values)))
    logs = np.log(np.maximum(values, floor))
    sigma = float(logs.std())
    by_logs = math.exp(float(logs.mean()) + sigma**2 / 2)
    candidates = [
        (by_logs, by_logs * math.sqrt(math.expm1(sigma**2))),
        (max(float(above.mean()), floor), float(above.std())),
    ]
    return sorted((_misfit(values, mean, deviation), mean, deviation) for mean, deviation in candidates)


def _contradiction(above: Floats, misfit: float, mean: float, deviation: float) -> str:
    """Returns in words what of the measured delays this log-normal contradicts, or nothing."""
    scale, middle = float(above.std()), float(above.mean())
    told = [
        ("mean", mean, middle, middle),
        *(
            (name, _quantile(share, mean, deviation), *_interval(above, share))
            for name, share in QUANTILES_HELD
        ),
    ]
    wrong = [
        f"its {name} {fitted * 1e3:.4g} ms instead of {(low if fitted < low else high) * 1e3:.4g} ms"
        for name, fitted, low, high in told
        if not low - NEAR * scale <= fitted <= high + NEAR * scale
    ]
    if not 1 / ALIKE <= deviation / scale <= ALIKE:
        wrong.append(f"its standard deviation {deviation * 1e3:.4g} ms instead of {scale * 1e3:.4g} ms")
    if misfit > FAR_OFF + KOLMOGOROV / math.sqrt(len(above)):
        wrong.append(f"a distribution function {misfit:.0%} from the measured one")
    return " and ".join(wrong)


def _interval(above: Floats, share: float) -> tuple[float, float]:
    """Returns between what the quantile lies, by the binomial distribution of the number below it."""
    half = Z * math.sqrt(share * (1 - share) / len(above))
    low, high = np.quantile(above, [max(0.0, share - half), min(1.0, share + half)])
    return float(low), float(high)


def _quantile(share: float, mean: float, deviation: float) -> float:
    """Returns the log-normal's quantile."""
    from scipy.special import ndtri  # noqa: PLC0415 slow to import

    mu, sigma = _of_logs(mean, deviation)
    return math.exp(mu + sigma * float(ndtri(share)))


def _of_logs(mean: float, deviation: float) -> tuple[float, float]:
    """Returns mean and standard deviation of the logarithm."""
    sigma = math.sqrt(math.log1p((deviation / mean) ** 2))
    return math.log(mean) - sigma**2 / 2, sigma


def _misfit(ordered: Floats, mean: float, deviation: float) -> float:
    fitted = cumulative(ordered, mean, deviation)
    # Equal values are one step: millisecond clocks produce many.
    distinct, first, count = np.unique(ordered, return_index=True, return_counts=True)
    middle = (first + count / 2) / len(ordered)
    slack = 0.5 / len(ordered)
    return float(max(0.0, np.max(np.abs(fitted[first] - middle)) - slack)) if len(distinct) else 0.0


def cumulative(above: Floats, mean: float, deviation: float) -> Floats:
    """Returns the log-normal's distribution function."""
    from scipy.special import ndtr  # noqa: PLC0415 slow to import

    mu, sigma = _of_logs(mean, deviation)
    with np.errstate(divide="ignore"):
        answer: Floats = ndtr((np.log(np.maximum(above, 0.0)) - mu) / max(sigma, 1e-9))
    return answer
