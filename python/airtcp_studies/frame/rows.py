"""Compares the paper's values with ours.

The tolerances are the same for all rows; a row that needs another one says why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from airtcp.facts.stats import Estimate, estimate, relative_gain

Kind = Literal["absolute", "ratio", "gain", "claim", "info"]
Verdict = Literal["agrees", "holds", "differs", "info"]
Values = Estimate | float | Sequence[float]
"""An estimate, one number, or one value per seed."""
Quoted = float | tuple[float, float]
"""The paper's value: a number, or a range."""

TOLERANCES: dict[Kind, float] = {"absolute": 0.15, "ratio": 0.15, "gain": 1 / 3}
"""Largest deviation from the quoted value, as a share of it."""


@dataclass(frozen=True)
class Tolerance:
    """A tolerance for one row, as a share of the quoted value, and why the common one does not apply."""

    share: float
    reason: str


Effect = Literal["agrees", "nearer", "none"]
"""What a variation does to its row: it makes the row agree, it closes at least half of the gap to the
tolerance, or neither."""
NEARER = 0.5
"""Share of the gap that is left at most where a variation counts as a cause."""


@dataclass(frozen=True)
class Tried:
    """A row as it is under another setting of the experiment: a value, or for a claim whether it holds."""

    setting: str
    """What was changed, in a few words."""
    values: Values | None = None
    holds: bool | None = None
    evidence: str = ""
    """The decisive figures of a claim."""

    @property
    def ours(self) -> Estimate | None:
        return None if self.values is None else estimate_of(self.values)


@dataclass(frozen=True)
class Row:
    """One statement of the paper, or with `info` a value for context. Gains are in percent."""

    name: str
    kind: Kind
    unit: str
    paper: tuple[float, float] | None
    """Low and high end; equal if the paper gives one number."""
    ours: Estimate | None
    holds: bool | None
    """Whether a claim holds."""
    evidence: str
    tolerance: Tolerance | None
    note: str
    tried: Sequence[Tried] = ()
    """Variations, measured by the same experiment: why the row differs, or what was not the reason."""

    @property
    def ratio(self) -> float | None:
        """Our value over the paper's; for a range, over its nearest end."""
        if self.paper is None or self.ours is None:
            return None
        nearest = min(max(self.ours.mean, self.paper[0]), self.paper[1])
        return self.ours.mean / nearest if nearest else None

    @property
    def limits(self) -> tuple[float, float] | None:
        """The bounds within which a value agrees with the paper's."""
        if self.paper is None or self.tolerance is None:
            return None
        low, high = self.paper
        return low - self.tolerance.share * abs(low), high + self.tolerance.share * abs(high)

    @property
    def verdict(self) -> Verdict:
        if self.holds is not None:
            return "holds" if self.holds else "differs"
        if self.limits is None or self.ours is None:
            return "info"
        return "agrees" if self.limits[0] <= self.ours.mean <= self.limits[1] else "differs"

    @property
    def decided(self) -> bool:
        """False if the interval extends across a limit: other seeds might give the other verdict."""
        if self.limits is None or self.ours is None or self.ours.low is None or self.ours.high is None:
            return True
        low, high = self.ours.low, self.ours.high
        return not any(low <= limit <= high for limit in self.limits)

    def effect(self, tried: Tried) -> Effect:
        """Returns what the variation does to this row, by its mean."""
        if tried.holds is not None:
            return "agrees" if tried.holds else "none"
        gap, own = self._gap(tried.ours), self._gap(self.ours)
        if gap == 0:
            return "agrees"
        return "nearer" if gap <= NEARER * own else "none"

    def _gap(self, ours: Estimate | None) -> float:
        """Returns how far the value lies outside the limits; infinity where it is undefined."""
        if self.limits is None or ours is None or math.isnan(ours.mean):
            return math.inf
        return max(self.limits[0] - ours.mean, ours.mean - self.limits[1], 0.0)


def absolute(
    name: str,
    paper: Quoted,
    ours: Values,
    unit: str,
    *,
    note: str = "",
    tried: Sequence[Tried] = (),
    tolerance: Tolerance | None = None,
) -> Row:
    """A value: within 15 %."""
    return _numeric("absolute", name, paper, ours, unit, note, tried, tolerance)


def ratio(
    name: str,
    paper: Quoted,
    ours: Values,
    *,
    note: str = "",
    tried: Sequence[Tried] = (),
    tolerance: Tolerance | None = None,
) -> Row:
    """A value over another, as from `ratio_of`: within 15 %."""
    return _numeric("ratio", name, paper, ours, "", note, tried, tolerance)


def gain(
    name: str,
    paper: Quoted,
    ours: Values,
    *,
    note: str = "",
    tried: Sequence[Tried] = (),
    tolerance: Tolerance | None = None,
) -> Row:
    """A relative gain (or, negative, a loss) in percent, as from `gain_of`: within a third of the quoted."""
    return _numeric("gain", name, paper, ours, "%", note, tried, tolerance)


def claim(
    name: str,
    holds: bool,
    *,
    evidence: str,
    note: str = "",
    tried: Sequence[Tried] = (),
) -> Row:
    """A statement without a number: which scheme wins, where curves cross. `evidence` has the decisive
    figures."""
    return Row(name, "claim", "", None, None, bool(holds), evidence, None, note, tried)


def info(name: str, ours: Values, unit: str = "", *, paper: Quoted | None = None, note: str = "") -> Row:
    """A value for context, without a verdict."""
    return Row(name, "info", unit, _range(paper), estimate_of(ours), None, "", None, note)


def gain_of(values: Sequence[float], base: Sequence[float]) -> Estimate:
    """Returns by how many percent `values` exceed `base`, seed by seed; NaN if the base is zero."""
    share = relative_gain(values, base)
    return Estimate(math.nan, None, len(values)) if share is None else share.scaled(100)


def ratio_of(values: Sequence[float], base: Sequence[float]) -> Estimate:
    """Returns `values` over `base`, seed by seed; NaN if the base is zero."""
    share = gain_of(values, base)
    half_width = None if share.half_width is None else share.half_width / 100
    return Estimate(1 + share.mean / 100, half_width, share.n)


def estimate_of(values: Values) -> Estimate:
    """Returns the estimate over seeds, if there are several."""
    if isinstance(values, Estimate):
        return values
    return estimate(values if isinstance(values, Sequence) else [values])


def _numeric(
    kind: Kind,
    name: str,
    paper: Quoted,
    ours: Values,
    unit: str,
    note: str,
    tried: Sequence[Tried],
    tolerance: Tolerance | None,
) -> Row:
    allowed = tolerance or Tolerance(TOLERANCES[kind], "")
    return Row(name, kind, unit, _range(paper), estimate_of(ours), None, "", allowed, note, tried)


def _range(paper: Quoted | None) -> tuple[float, float] | None:
    if isinstance(paper, tuple):
        return min(paper), max(paper)
    return None if paper is None else (paper, paper)
