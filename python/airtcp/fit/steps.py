"""Round trips in steps, as a link makes them that repeats what could not be read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from airtcp.fit.measurement import Floats

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Steps:
    """The steps that are not empty, all of shape (n,), the least first."""

    numbers: Counts
    """How many steps each is above the least."""
    counts: Counts
    """Round trips on each."""
    lows_s: Floats
    """The least one of each, and"""
    highs_s: Floats
    """the longest, above the least of all."""

    @property
    def shares(self) -> Floats:
        shares: Floats = self.counts / self.counts.sum()
        return shares

    @property
    def mean_s(self) -> float:
        """The mean of values that are spread evenly over each step."""
        return float(self.shares @ (self.lows_s + self.highs_s)) / 2

    def cumulative(self, above: Floats) -> Floats:
        """Returns the distribution function of values that are spread evenly over each step."""
        return np.interp(above, *self._edges())

    def quantiles(self, shares: Floats) -> Floats:
        """Returns its inverse."""
        places, cumulative = self._edges()
        return np.interp(shares, cumulative, places)

    def _edges(self) -> tuple[Floats, Floats]:
        """Returns the ends of all steps, and the distribution function there."""
        ends = np.cumsum(self.shares)
        places = np.column_stack([self.lows_s, self.highs_s]).ravel()
        return places, np.column_stack([ends - self.shares, ends]).ravel()

    @property
    def are_harq(self) -> bool:
        """Whether most need no repetition, and each further one is rarer, as HARQ's are. Other waits, such as
        DRX's, are not."""
        first = [int(self.counts[self.numbers == number].sum()) for number in range(3)]
        return bool(self.shares[0] >= 0.5) and first[0] >= first[1] >= first[2]


def in_steps(above: Floats, number: Counts) -> Steps:
    """Returns the steps of values above the least, each with the number of its step."""
    order = np.lexsort((above, number))
    numbers, first, counts = np.unique(number[order], return_index=True, return_counts=True)
    ordered = above[order]
    return Steps(numbers, counts.astype(np.int64), ordered[first], ordered[first + counts - 1])
