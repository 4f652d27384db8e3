"""Tests whether a density that is high on both sides of a gap can have one mode.

Null hypothesis: the density has one mode, wherever it is. Then its mean in the gap is at least that of one
neighbour, so that of the values in the gap and in that neighbour, the neighbour's expected share is at most
its share of their width. The probability of what was counted is a binomial tail, the greater one of both
neighbours'. It is exact for any density with one mode and for independent values. This is the idea of the
dip test (Hartigan and Hartigan 1985), at places that are known before.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from airtcp.fit.measurement import Floats


def as_many(beside: npt.ArrayLike, between: npt.ArrayLike, share: npt.ArrayLike) -> Floats:
    """Returns the probability that so many values or more are in a neighbour; `between` are in the gap, and
    `share` is the neighbour's of their width."""
    from scipy.special import bdtrc  # noqa: PLC0415 slow to import

    beside, between = np.asarray(beside), np.asarray(between)
    tail = bdtrc(np.maximum(beside - 1.0, 0.0), np.maximum(beside + between, 1), np.asarray(share))
    p: Floats = np.where(beside >= 1, tail, 1.0)
    return p
