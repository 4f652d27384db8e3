"""Mean and standard deviation of delays that are correlated in time, each with its interval.

The interval is that of batch means: means of ten successive batches vary as much as correlation lets them,
and Student's t allows for their small number. What the correlation still does between batches is corrected as
for a first-order autoregression.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from airtcp.fit.findings import CONFIDENCE, Value
from airtcp.fit.measurement import Floats

BATCHES = 10
FEW = 40
"""Fewer values give no interval."""
MOST_CORRELATED = 0.98
LEAST_SEEN = 0.05
"""Batches are taken to show at least this share of the variance of the mean."""


@dataclass(frozen=True)
class Moments:
    """Of all values, in seconds."""

    mean: Value
    deviation: Value


def moments(values: Floats) -> Moments:
    """Returns the moments of values in order of time, whatever their distribution."""
    mean, deviation = float(values.mean()), float(values.std())
    if len(values) < FEW or deviation == 0:
        return Moments(Value(mean), Value(deviation))
    half = _half(values)
    # The logarithm of the deviation, by its derivative after the variance.
    of_log = _half((values - mean) ** 2) / (2 * deviation**2)
    return Moments(
        Value(mean, mean - half, mean + half),
        Value(deviation, deviation * math.exp(-of_log), deviation * math.exp(of_log)),
    )


def log_normal_moments(values: Floats, best: tuple[float, float]) -> Moments:
    """Returns the moments of a log-normal's values in order of time; `best` are the fitted ones.

    The logarithms know the tail better than the few values in it do.
    """
    mean, deviation = best
    if len(values) < FEW:
        return Moments(Value(mean), Value(deviation))
    logs = np.log(np.maximum(values, 1e-3 * float(np.median(values)) + 1e-9))
    apart = logs - logs.mean()
    variance = float(apart.var())
    # Influence of each value on the logarithms of the mean and of the deviation.
    on_mean = apart + (apart**2 - variance) / 2
    on_deviation = on_mean + (apart**2 - variance) / (2 * -math.expm1(-variance))
    of_mean, of_deviation = _half(on_mean), _half(on_deviation)
    return Moments(
        Value(mean, mean * math.exp(-of_mean), mean * math.exp(of_mean)),
        Value(deviation, deviation * math.exp(-of_deviation), deviation * math.exp(of_deviation)),
    )


def _half(values: Floats) -> float:
    """Returns half of the interval of the mean."""
    from scipy.special import stdtrit  # noqa: PLC0415 slow to import

    size = len(values) // BATCHES
    means = values[: size * BATCHES].reshape(BATCHES, size).mean(axis=1)
    error = float(means.std(ddof=1)) / math.sqrt(BATCHES)
    seen = _share_seen(_first_correlation(values), size)
    return float(stdtrit(BATCHES - 1, (1 + CONFIDENCE) / 2)) * error / math.sqrt(seen)


def _first_correlation(values: Floats) -> float:
    """Returns the correlation of neighbours, without the bias that short series have (Kendall 1954)."""
    apart = values - values.mean()
    variance = float((apart**2).mean())
    if variance == 0:
        return 0.0
    found = float((apart[1:] * apart[:-1]).mean()) / variance
    return min(MOST_CORRELATED, max(0.0, found + (1 + 4 * found) / len(values)))


def _share_seen(correlation: float, size: int) -> float:
    """Returns how much of the mean's variance batches of that size show."""
    unseen = 2 * correlation * (1 - correlation**size) / (size * (1 - correlation**2))
    return max(LEAST_SEEN, 1 - unseen)
