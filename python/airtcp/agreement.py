"""Do simulator and kernel say the same? Scheme by scheme, and of who is ahead of whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from airtcp.records import Run
from airtcp.stats import Estimate, relative_gain
from airtcp.summary import (
    Objective,
    SchemeSummary,
    difference,
    group,
    objective,
    paired_values,
    summarise_all,
)
from airtcp.verdict import listed, rank

FEW = 2
"""Pairs that are named; more are counted."""


@dataclass(frozen=True)
class Pair:
    """One scheme on both. `ratio`: the objective on the kernel to that in the simulator; None: it was zero.

    Runs with the same seed are pairs: the emulator draws what the simulator draws. The interval includes one
    exactly when the paired difference's includes zero.
    """

    scheme: str
    sim: SchemeSummary
    linux: SchemeSummary
    ratio: Estimate | None


@dataclass(frozen=True)
class Agreement:
    """What both say together."""

    objective: Literal["goodput", "completion time"]
    pairs: tuple[Pair, ...]
    contradictions: tuple[tuple[str, str], ...]
    """Pairs of schemes of which the first is ahead in the simulator and behind on the kernel, both surely."""
    undecided: tuple[tuple[str, str], ...]
    """Pairs that only one of both can tell apart."""
    text: str


def agreement(sim: Sequence[Run], linux: Sequence[Run]) -> Agreement | None:
    """Of the schemes that have run on both; None where there are none."""
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
    contradictions, undecided = [], []
    for one, other in combinations(rank(by_sim, goal), 2):
        simulated = _sign(difference(by_sim[one], by_sim[other], goal))
        measured = _sign(difference(by_linux[one], by_linux[other], goal))
        if simulated * measured < 0:
            contradictions.append((one, other))
        elif simulated != measured:
            undecided.append((one, other))
    ranks = rank(by_sim, goal), rank(by_linux, goal)
    text = " ".join(_words(goal, pairs, ranks, contradictions, undecided))
    return Agreement(goal.name, pairs, tuple(contradictions), tuple(undecided), text)


def _side_by_side(
    sim: Sequence[SchemeSummary], linux: Sequence[SchemeSummary]
) -> list[tuple[SchemeSummary, SchemeSummary]]:
    others = {summary.scheme: summary for summary in linux}
    return [(summary, others[summary.scheme]) for summary in sim]


def _ratio(linux: Sequence[Run], sim: Sequence[Run], goal: Objective) -> Estimate | None:
    gain = relative_gain(*paired_values(linux, sim, goal))
    return None if gain is None else Estimate(1 + gain.mean, gain.half_width, gain.n)


def _sign(gap: Estimate) -> int:
    """Whether the first is surely ahead, surely behind, or neither; without an interval its mean decides."""
    if gap.half_width is not None and gap.includes(0):
        return 0
    return (gap.mean > 0) - (gap.mean < 0)


def _words(
    goal: Objective,
    pairs: Sequence[Pair],
    ranks: tuple[list[str], list[str]],
    contradictions: Sequence[tuple[str, str]],
    undecided: Sequence[tuple[str, str]],
) -> list[str]:
    said = []
    if len(pairs) > 1:
        said.append(_order(ranks, contradictions, undecided))
    ratios = [pair.ratio.mean for pair in pairs if pair.ratio is not None]
    if ratios:
        low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
        span = low if low == high else f"{low} to {high}"
        said.append(f"The kernel's {goal.name} is {span} times the simulator's.")
    if pairs and pairs[0].sim.goodput.n == 1:
        said.append("A single seed has no interval: run more to know.")
    return said


def _order(
    ranks: tuple[list[str], list[str]],
    contradictions: Sequence[tuple[str, str]],
    undecided: Sequence[tuple[str, str]],
) -> str:
    sim, linux = ranks[0][0], ranks[1][0]
    first = f"{sim} is first in both"
    if sim != linux:
        first = f"first is {sim} in the one, {linux} on the other, not surely"
    if contradictions:
        said = listed([f"{one} over {other}" for one, other in contradictions])
        return f"Simulator and kernel disagree: the simulator has {said}, the kernel the other way round."
    if undecided:
        names = listed([f"{one} from {other}" for one, other in undecided])
        count = len(ranks[0]) * (len(ranks[0]) - 1) // 2
        which = names if len(undecided) <= FEW else f"{len(undecided)} of the {count} pairs apart"
        return f"Simulator and kernel rank alike, but only one of them can tell {which}; {first}."
    return f"Simulator and kernel rank the {len(ranks[0])} schemes alike; {first}."
