"""Correlation of a delay with the delay one interval later."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from airtcp.fit.findings import Value, Z
from airtcp.fit.measurement import Floats

MEMORYLESS = 0.05
"""Used for a correlation that is indistinguishable from none: it decays within one interval."""
LONG = 0.8
"""A correlation above this is too high to show its decay: a longer lag is used."""
FEW_PAIRS = 15
MOST = 0.99


@dataclass(frozen=True)
class Correlation:
    """Correlation of the delays' normal scores, which are the logarithms if delays are log-normal."""

    interval_s: float
    coefficient: Value | None
    """None if there are too few pairs."""

    @property
    def is_seen(self) -> bool:
        """Whether it is surely above zero."""
        found = self.coefficient
        return found is not None and found.low is not None and found.low > 0 and found.best > MEMORYLESS

    @property
    def used(self) -> float:
        """The value that the scenario uses."""
        return min(MOST, self.coefficient.best) if self.is_seen and self.coefficient else MEMORYLESS

    def of_delays(self, sigma: float) -> float:
        """Returns the correlation of the log-normal delays themselves; `sigma` is the deviation of their
        logarithm."""
        variance = sigma**2
        return math.expm1(self.used * variance) / math.expm1(variance) if variance > 1e-9 else self.used


def correlation(time: Floats, values: Floats) -> Correlation:
    """Returns the correlation at the values' median spacing, or at its first doubling at which they start to
    differ."""
    spacing = float(np.median(np.diff(time))) if len(time) > 1 else 1.0
    spacing = spacing if spacing > 0 else 1.0
    scores = _normal_scores(values)
    found = Correlation(spacing, None)
    while True:
        coefficient = _at(time, scores, spacing)
        if coefficient is None:
            return found
        found = Correlation(spacing, coefficient)
        if coefficient.best <= LONG or spacing > (time[-1] - time[0]) / 20:
            return found
        spacing *= 2


def _normal_scores(values: Floats) -> Floats:
    """Returns van der Waerden's normal scores, which do not depend on the distribution. Ties share one
    score."""
    from scipy.special import ndtri  # noqa: PLC0415 slow to import

    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    middle = (np.cumsum(count) - count / 2) / len(values)
    scores: Floats = ndtri(middle)[place]
    return scores


def _at(time: Floats, scores: Floats, lag_s: float) -> Value | None:
    """Returns the correlation of the pairs whose distance is nearest to the lag, within half of it."""
    place = np.searchsorted(time, time + lag_s)
    place = np.minimum(place, len(time) - 1)
    before = np.maximum(place - 1, 0)
    nearer = np.abs(time[before] - time - lag_s) < np.abs(time[place] - time - lag_s)
    other = np.where(nearer, before, place)
    index = np.arange(len(time))
    paired = (other > index) & (np.abs(time[other] - time - lag_s) <= lag_s / 2)
    n = int(paired.sum())
    if n < FEW_PAIRS:
        return None
    first, second = scores[paired], scores[other[paired]]
    if first.std() == 0 or second.std() == 0:
        return None
    value = float(np.corrcoef(first, second)[0, 1])
    # Overlapping pairs count only as much as the time that they span.
    spans = max(FEW_PAIRS, min(n, int((time[-1] - time[0]) / lag_s)))
    half = Z * math.sqrt(max(1e-9, 1 - value**2) / spans)
    return Value(value, max(-1.0, value - half), min(1.0, value + half))
