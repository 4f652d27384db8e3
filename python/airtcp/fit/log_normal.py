"""Fits a log-normal to delays above a base, and says what of the delays it contradicts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from airtcp.fit.findings import Z
from airtcp.fit.measurement import Floats

QUANTILES = 500
"""Number of quantiles of the delays to which a curve is fitted."""
MEAN_NEAR = 0.1
"""How far the mean of a fit may be from the one measured, in standard deviations."""
QUANTILE_NEAR = 0.2
"""How far median and 95th percentile may be beyond what chance explains, in standard deviations."""
ALIKE = 1.25
"""How many times as large as the other one, fitted and measured standard deviation may be."""
FAR_OFF = 0.15
"""How far the distribution functions may be apart, beside what chance explains."""
KOLMOGOROV = 0.9
"""Times the square root of the number, what chance explains of that distance (Lilliefors, 95 %)."""
MOST_SIGMA = 1.3
"""A longer tail has its deviation from packets so rare that a run would not show it."""
QUANTILES_HELD = (("median", 0.5), ("95th percentile", 0.95))
Shifts = Sequence[tuple[float, float]]
"""Shares of the time, and by how much delays are then longer; together they are all of the time."""
ALWAYS: Shifts = ((1.0, 0.0),)


@dataclass(frozen=True)
class LogNormal:
    """A log-normal distribution of positive values."""

    mean: float
    deviation: float

    @property
    def sigma(self) -> float:
        """Standard deviation of the logarithm."""
        return math.sqrt(math.log1p((self.deviation / self.mean) ** 2))

    @property
    def mu(self) -> float:
        """Mean of the logarithm."""
        return math.log(self.mean) - self.sigma**2 / 2

    def cumulative(self, values: Floats) -> Floats:
        """Returns the distribution function."""
        from scipy.special import ndtr  # noqa: PLC0415 slow to import

        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(values, 0.0))
        answer: Floats = ndtr((logs - self.mu) / max(self.sigma, 1e-9))
        return answer

    def quantile(self, share: float) -> float:
        from scipy.special import ndtri  # noqa: PLC0415 slow to import

        return math.exp(self.mu + self.sigma * float(ndtri(share)))


def log_normals(above: Floats) -> list[tuple[float, LogNormal]]:
    """Returns two fits with their misfit, the better one first: by moments of the logarithms and of the
    values."""
    values = thinned(above)
    floor = max(1e-6, 1e-3 * float(np.median(values)))
    logs = np.log(np.maximum(values, floor))
    sigma = float(logs.std())
    by_logs = math.exp(float(logs.mean()) + sigma**2 / 2)
    candidates = [
        LogNormal(by_logs, by_logs * math.sqrt(math.expm1(sigma**2))),
        LogNormal(max(float(above.mean()), floor), float(above.std())),
    ]
    return sorted(((_misfit(values, each), each) for each in candidates), key=lambda pair: pair[0])


def thinned(values: Floats) -> Floats:
    """Returns the values in order, or as many quantiles of them as suffice."""
    ordered: Floats = np.sort(values)
    if len(ordered) > QUANTILES:
        ordered = np.quantile(ordered, (np.arange(QUANTILES) + 0.5) / QUANTILES)
    return ordered


def contradiction(above: Floats, fitted: LogNormal, shifts: Shifts = ALWAYS) -> str:
    """Returns in words what of the measured delays this log-normal contradicts, or nothing.

    With `shifts`, the delays include those of rare episodes, during which they are longer.
    """
    told = [*_far_off(above, fitted, shifts)]
    if fitted.sigma > MOST_SIGMA:
        told.append(f"a tail that few runs would show: {fitted.sigma:.2g} as deviation of the logarithm")
    scale, deviation = float(above.std()), _deviation(fitted, shifts)
    if not scale / ALIKE <= deviation <= scale * ALIKE:
        told.append(f"its standard deviation {deviation * 1e3:.4g} ms instead of {scale * 1e3:.4g} ms")
    return " and ".join(told)


def shape_contradiction(misfit: float, n: int) -> str:
    """Says how far the distribution functions of `n` calm delays are apart, if too far."""
    if misfit <= FAR_OFF + KOLMOGOROV / math.sqrt(n):
        return ""
    return f"a distribution function {misfit:.0%} from the measured one"


def _far_off(above: Floats, fitted: LogNormal, shifts: Shifts) -> Iterator[str]:
    scale, middle = float(above.std()), float(above.mean())
    mean = sum(share * (fitted.mean + extra) for share, extra in shifts)
    told = [("mean", mean, middle, middle, MEAN_NEAR)]
    for name, share in QUANTILES_HELD:
        told.append((name, _quantile(share, fitted, shifts), *_interval(above, share), QUANTILE_NEAR))
    for name, value, low, high, near in told:
        if not low - near * scale <= value <= high + near * scale:
            measured = low if value < low else high
            yield f"its {name} {value * 1e3:.4g} ms instead of {measured * 1e3:.4g} ms"


def _deviation(fitted: LogNormal, shifts: Shifts) -> float:
    means = [(share, fitted.mean + extra) for share, extra in shifts]
    middle = sum(share * mean for share, mean in means)
    between = sum(share * (mean - middle) ** 2 for share, mean in means)
    return math.sqrt(fitted.deviation**2 + between)


def _quantile(share: float, fitted: LogNormal, shifts: Shifts) -> float:
    """Returns the quantile of the mixture, by bisection."""
    low = fitted.quantile(share) + min(extra for _, extra in shifts)
    high = fitted.quantile(share) + max(extra for _, extra in shifts)
    for _ in range(40):
        middle = (low + high) / 2
        below = sum(part * float(fitted.cumulative(np.array([middle - extra]))[0]) for part, extra in shifts)
        low, high = (middle, high) if below < share else (low, middle)
    return high


def _interval(above: Floats, share: float) -> tuple[float, float]:
    """Returns between what the quantile lies, by the binomial distribution of the number below it."""
    half = Z * math.sqrt(share * (1 - share) / len(above))
    low, high = np.quantile(above, [max(0.0, share - half), min(1.0, share + half)])
    return float(low), float(high)


def _misfit(ordered: Floats, fitted: LogNormal) -> float:
    """Returns the largest distance between the distribution functions (Kolmogorov)."""
    # Equal values are one step: millisecond clocks produce many.
    distinct, first, count = np.unique(ordered, return_index=True, return_counts=True)
    middle = (first + count / 2) / len(ordered)
    slack = 0.5 / len(ordered)
    far = np.abs(fitted.cumulative(distinct) - middle)
    return float(max(0.0, np.max(far) - slack)) if len(distinct) else 0.0
