"""Means, paired differences and their intervals, by Student's t over seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, stdev

CONFIDENCE = 0.95
NEGLIGIBLE = 0.0005
"""A lead below this share reads 0.0 %: it is none."""


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its confidence interval; None with fewer than two values."""

    mean: float
    half_width: float | None
    n: int

    @property
    def low(self) -> float | None:
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> float | None:
        return None if self.half_width is None else self.mean + self.half_width

    def includes(self, value: float) -> bool:
        """Returns whether `value` is inside the interval; always true without one."""
        return self.half_width is None or abs(self.mean - value) <= self.half_width

    def scaled(self, factor: float) -> Estimate:
        """Returns the estimate in another unit."""
        half_width = None if self.half_width is None else self.half_width * abs(factor)
        return Estimate(self.mean * factor, half_width, self.n)


def estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Returns the mean of independent `values`, with the interval mean ± t·s/√n."""
    n = len(values)
    if n == 0:
        return Estimate(math.nan, None, 0)
    mean = fmean(values)
    if n == 1:
        return Estimate(mean, None, 1)
    return Estimate(mean, student_t_quantile((1 + confidence) / 2, n - 1) * stdev(values) / math.sqrt(n), n)


def paired_difference(values: Sequence[float], base: Sequence[float]) -> Estimate:
    """Returns the mean of values[i] − base[i]: runs with the same seed are pairs, since they draw the same
    losses."""
    return estimate([value - other for value, other in zip(values, base, strict=True)])


def separates(gap: Estimate, base: float) -> bool:
    """Returns whether a paired difference to values around `base` shows which is better.

    Seeds that repeat one run do not, however many: differences without any spread say nothing of chance.
    """
    return bool(gap.half_width) and not gap.includes(0) and abs(gap.mean) >= NEGLIGIBLE * abs(base)


def relative_gain(values: Sequence[float], base: Sequence[float]) -> Estimate | None:
    """Returns the paired difference as a share of the base's mean; None if that mean is zero.

    The interval includes zero exactly when that of the difference does.
    """
    base_mean = fmean(base) if base else 0.0
    return paired_difference(values, base).scaled(1 / base_mean) if base_mean else None


def values_to_decide(found: Estimate, most: int) -> int | None:
    """Returns how many values would separate the mean from zero if mean and spread stayed; None above
    `most`."""
    if not found.half_width or not found.mean:
        return None
    deviation = found.half_width * math.sqrt(found.n) / student_t_quantile((1 + CONFIDENCE) / 2, found.n - 1)
    for n in range(found.n + 1, most + 1):
        if student_t_quantile((1 + CONFIDENCE) / 2, n - 1) * deviation < abs(found.mean) * math.sqrt(n):
            return n
    return None


def student_t_cdf(t: float, df: int) -> float:
    """P(T ≤ t) for a whole number of degrees of freedom.

    The finite series in θ = atan(t/√df) of Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    theta = math.atan(t / math.sqrt(df))
    cos_squared = math.cos(theta) ** 2
    odd = df % 2 == 1
    term = math.cos(theta) if odd else 1.0
    total = 0.0
    for k in range(1, df // 2 + 1):
        total += term
        term *= cos_squared * (2 * k / (2 * k + 1) if odd else (2 * k - 1) / (2 * k))
    within = 2 / math.pi * (theta + math.sin(theta) * total) if odd else math.sin(theta) * total
    return 0.5 * (1 + within)


@cache
def student_t_quantile(p: float, df: int) -> float:
    """Returns the t with P(T ≤ t) = p, for 0.5 ≤ p < 1, by bisection."""
    if not (0.5 <= p < 1 and df >= 1):
        raise ValueError(f"no quantile for p = {p}, df = {df}")
    low, high = 0.0, 1.0
    while student_t_cdf(high, df) < p:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if student_t_cdf(middle, df) < p else (low, middle)
    return (low + high) / 2
