"""Judges whether simulator and kernel agree, per scheme and in their ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from airtcp.facts.numbers import decimals
from airtcp.facts.records import Run
from airtcp.facts.stats import Estimate, relative_gain
from airtcp.facts.summary import (
    COMPLETION,
    Objective,
    SchemeSummary,
    difference,
    group,
    objective,
    paired_values,
    summarise_all,
)
from airtcp.facts.units import rate_scale
from airtcp.facts.verdict import listed, rank

FEW = 2
"""Number of pairs that are named; further ones are only counted."""


@dataclass(frozen=True)
class Pair:
    """One scheme on both. `ratio` is the kernel's objective over the simulator's; None if that is zero.

    Runs with the same seed are pairs, because the emulator draws the same numbers as the simulator. The
    interval includes one exactly when the paired difference's includes zero.
    """

    scheme: str
    sim: SchemeSummary
    linux: SchemeSummary
    ratio: Estimate | None


@dataclass(frozen=True)
class Agreement:
    """What simulator and kernel say together."""

    objective: Literal["goodput", "completion time"]
    pairs: tuple[Pair, ...]
    contradictions: tuple[tuple[str, str], ...]
    """Pairs of schemes of which the first is significantly ahead in the simulator and behind on the kernel.

    Empty, like `undecided`, with a single seed.
    """
    undecided: tuple[tuple[str, str], ...]
    """Pairs that only one of the two can separate."""
    text: str


def agreement(sim: Sequence[Run], linux: Sequence[Run]) -> Agreement | None:
    """Compares the schemes that have run on both; None if there are none."""
    there = {run["scheme"] for run in linux}
    common = [run for run in sim if run["scheme"] in there]
    here = {run["scheme"] for run in common}
    if not common:
        return None
    on_linux = [run for run in linux if run["scheme"] in here]
    goal = objective([*common, *on_linux])
    by_sim, by_linux = group(common), group(on_linux)
    pairs = tuple(
        Pair(summary.scheme, summary, other, _ratio(by_linux[summary.scheme], by_sim[summary.scheme], goal))
        for summary, other in _side_by_side(summarise_all(common), summarise_all(on_linux))
    )
    found = _Ranking()
    for one, other in combinations(rank(by_sim, goal), 2):
        gaps = (difference(runs[one], runs[other], goal) for runs in (by_sim, by_linux))
        found.add((one, other), *gaps)
    firsts = _first([pair.sim for pair in pairs], goal), _first([pair.linux for pair in pairs], goal)
    text = " ".join(_words(goal, pairs, firsts, found))
    return Agreement(goal.name, pairs, tuple(found.contradictions), tuple(found.undecided), text)


@dataclass
class _Ranking:
    """What is known of each pair of schemes."""

    contradictions: list[tuple[str, str]] = field(default_factory=list)
    undecided: list[tuple[str, str]] = field(default_factory=list)
    unknown: list[tuple[str, str]] = field(default_factory=list)
    """Pairs with a single seed on either side, which decides nothing."""

    def add(self, schemes: tuple[str, str], simulated: Estimate, measured: Estimate) -> None:
        if simulated.half_width is None or measured.half_width is None:
            self.unknown.append(schemes)
        elif _sign(simulated) * _sign(measured) < 0:
            self.contradictions.append(schemes)
        elif _sign(simulated) != _sign(measured):
            self.undecided.append(schemes)


def _side_by_side(
    sim: Sequence[SchemeSummary], linux: Sequence[SchemeSummary]
) -> list[tuple[SchemeSummary, SchemeSummary]]:
    others = {summary.scheme: summary for summary in linux}
    return [(summary, others[summary.scheme]) for summary in sim]


def _ratio(linux: Sequence[Run], sim: Sequence[Run], goal: Objective) -> Estimate | None:
    gain = relative_gain(*paired_values(linux, sim, goal))
    return None if gain is None else Estimate(1 + gain.mean, gain.half_width, gain.n)


def _sign(gap: Estimate) -> int:
    """Returns whether the first is surely ahead, surely behind, or neither."""
    return 0 if gap.includes(0) else 1 if gap.mean > 0 else -1


def _first(summaries: Sequence[SchemeSummary], goal: Objective) -> list[str]:
    """Returns the best scheme, and those with the same number in the table."""
    values = {
        row.scheme: row.completion.mean if goal is COMPLETION and row.completion else row.goodput.mean
        for row in summaries
    }
    best = max(values.values()) if goal.higher_is_better else min(values.values())
    unit = 1.0 if goal is COMPLETION else rate_scale([*values.values()])[0]
    places = decimals(best / unit)
    return [scheme for scheme, value in values.items() if round((value - best) / unit, places) == 0]


def _words(
    goal: Objective, pairs: Sequence[Pair], firsts: tuple[list[str], list[str]], found: _Ranking
) -> list[str]:
    said = []
    if len(pairs) > 1:
        said.append(_order(len(pairs), firsts, found))
    ratios = [pair.ratio.mean for pair in pairs if pair.ratio is not None]
    if ratios:
        low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
        span = low if low == high else f"{low} to {high}"
        said.append(f"The kernel's {goal.name} is {span} times the simulator's.")
    if len(pairs) == 1 and pairs[0].ratio and pairs[0].ratio.half_width is None:
        said.append("A single seed gives no interval; run more.")
    return said


def _order(schemes: int, firsts: tuple[list[str], list[str]], found: _Ranking) -> str:
    if found.contradictions:
        said = listed([f"{one} over {other}" for one, other in found.contradictions])
        return f"Simulator and kernel disagree: the simulator ranks {said}, the kernel the other way round."
    if found.unknown:
        return "A single seed cannot show whether simulator and kernel agree on the ranking; run more."
    if found.undecided:
        names = listed([f"{one} from {other}" for one, other in found.undecided])
        count = schemes * (schemes - 1) // 2
        which = names if len(found.undecided) <= FEW else f"{len(found.undecided)} of the {count} pairs"
        return f"Simulator and kernel rank alike, but only one of them separates {which}; {_ahead(*firsts)}."
    return f"Simulator and kernel rank all {schemes} schemes the same; {_ahead(*firsts)}."


def _ahead(sim: list[str], linux: list[str]) -> str:
    if sim != linux:
        return f"first in the simulator: {listed(sim)}; on the kernel: {listed(linux)} (not significant)"
    return f"{sim[0]} leads in both" if len(sim) == 1 else f"{listed(sim)} share first place in both"
