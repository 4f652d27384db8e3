"""Determines the best scheme, its statistical ties, and those behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from airtcp.facts.records import Run
from airtcp.facts.stats import CONFIDENCE, Estimate, estimate
from airtcp.facts.summary import Objective, paired_values

Place = Literal["best", "tied", "behind"]
MARGIN = 0.02
"""A scheme behind by less counts as good: nobody would deploy anything for two percent."""
SURE = 0.99
"""Confidence needed to drop a scheme early: many schemes are examined many times."""


@dataclass(frozen=True)
class Standing:
    """The standing of one scheme."""

    name: str
    place: Place
    behind: Estimate | None
    """How much worse than the best, as a share of the best; None for the best itself."""


def standings(
    runs: Mapping[str, Sequence[Run]], means: Mapping[str, float], goal: Objective
) -> list[Standing]:
    """Ranks schemes from best to worst by their `means`; ties keep their order. Gaps are those on common
    seeds."""
    sign = -1 if goal.higher_is_better else 1
    best, *others = sorted(runs, key=lambda name: sign * means[name])
    gaps = {name: gap(runs[best], runs[name], goal) for name in others}
    return [
        Standing(best, "best", None),
        *(Standing(name, "behind" if is_behind(gaps[name]) else "tied", gaps[name]) for name in others),
    ]


def gap(
    best: Sequence[Run], other: Sequence[Run], goal: Objective, confidence: float = CONFIDENCE
) -> Estimate:
    """Returns how much worse `other` does than `best`, seed by seed, as a share of what `best` reaches."""
    values, others = paired_values(best, other, goal)
    sign = 1 if goal.higher_is_better else -1
    base = fmean(values) if values else 0.0
    found = estimate([sign * (a - b) for a, b in zip(values, others, strict=True)], confidence)
    return found.scaled(1 / base) if base else found


def is_behind(found: Estimate) -> bool:
    """Returns whether the gap surely exceeds the margin."""
    return found.low is not None and found.low > MARGIN


def is_as_good(found: Estimate) -> bool:
    """Returns whether the gap is surely below the margin."""
    return found.high is not None and found.high < MARGIN
