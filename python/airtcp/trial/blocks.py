"""Judges blocks. In a block each scheme has one transfer, so the path's state is common to all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from airtcp.facts.stats import Estimate, estimate

MARGIN = 0.05
"""A scheme behind by less counts as good. Real paths change by more from minute to minute."""
SURE = 0.99
"""Confidence of every interval: looking after each block would err too often at 95 %."""
LEAST_BLOCKS = 3

Standing = Literal["best", "as good", "behind", "not known"]


@dataclass(frozen=True)
class TrialRow:
    """The standing of one scheme."""

    scheme: str
    reached: Estimate
    """Goodput in bit/s, or time in s."""
    behind: Estimate | None
    """How much worse than the best, block by block, as a share of the best; None for the best itself."""
    standing: Standing
    forecast: Estimate | None
    """The simulator's result; None without a scenario."""
    values: tuple[float, ...]
    """One value per block."""


@dataclass(frozen=True)
class Trial:
    """The results on the path."""

    format: Literal[1]
    objective: Literal["goodput", "time"]
    confidence: float
    margin: float
    seed: int
    """Seed of the order in each block."""
    decided: bool
    broken_off: str | None
    """Why it ended early, undecided."""
    order: tuple[tuple[str, ...], ...]
    rows: tuple[TrialRow, ...]


def trial_of(
    objective: Literal["goodput", "time"],
    order: Sequence[Sequence[str]],
    values: Mapping[str, Sequence[float]],
    forecast: Mapping[str, Estimate],
    seed: int,
    *,
    broken_off: str | None = None,
) -> Trial:
    """Judges complete blocks; an interrupted one does not count."""
    blocks = min(map(len, values.values()), default=0)
    whole = {scheme: tuple(found[:blocks]) for scheme, found in values.items()}
    sign = 1 if objective == "goodput" else -1
    ranked = sorted(whole, key=lambda scheme: -sign * sum(whole[scheme]))
    rows = [_row(scheme, whole, ranked[0], sign, forecast) for scheme in ranked]
    return Trial(
        format=1,
        objective=objective,
        confidence=SURE,
        margin=MARGIN,
        seed=seed,
        decided=blocks >= LEAST_BLOCKS and all(row.standing != "not known" for row in rows),
        broken_off=broken_off,
        order=tuple(tuple(each) for each in order[:blocks]),
        rows=tuple(rows),
    )


def _row(
    scheme: str, values: Mapping[str, Sequence[float]], best: str, sign: int, forecast: Mapping[str, Estimate]
) -> TrialRow:
    behind = None if scheme == best else _behind(values[best], values[scheme], sign)
    return TrialRow(
        scheme=scheme,
        reached=estimate(values[scheme], SURE),
        behind=behind,
        standing="best" if behind is None else _standing(behind),
        forecast=forecast.get(scheme),
        values=tuple(values[scheme]),
    )


def _behind(best: Sequence[float], other: Sequence[float], sign: int) -> Estimate:
    base = sum(best) / len(best) if best else 0.0
    found = estimate([sign * (a - b) for a, b in zip(best, other, strict=True)], SURE)
    return found.scaled(1 / base) if base else found


def _standing(behind: Estimate) -> Standing:
    if behind.low is None or behind.high is None:
        return "not known"
    if behind.low > MARGIN:
        return "behind"
    return "as good" if behind.high < MARGIN else "not known"
