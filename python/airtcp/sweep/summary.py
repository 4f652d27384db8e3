"""Judges each point of a sweep like a comparison, and each scheme over all points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Literal

import polars as pl

from airtcp.facts.stats import Estimate, estimate, paired_difference, separates, values_to_decide
from airtcp.facts.verdict import STRETCH, repeated_runs
from airtcp.sweep.plan import Plan
from airtcp.sweep.rows import MEASURES

MOST_SEEDS = 100
"""More seeds are not suggested."""


@dataclass(frozen=True)
class Goal:
    """The measure of the schemes: goodput, or completion times if every run has finished transfers."""

    name: Literal["goodput", "completion time"]
    column: str
    higher_is_better: bool


GOODPUT = Goal("goodput", "goodput_bps", True)
COMPLETION = Goal("completion time", "completion_mean_s", False)


@dataclass(frozen=True)
class Judged:
    """One point: the best scheme, and its statistical ties with these seeds."""

    best: str
    tied: tuple[str, ...]
    margin: Estimate | None
    """Its lead as a share of the next scheme's value; None if there is no next one, or if that value is zero.
    """

    @property
    def leaders(self) -> tuple[str, ...]:
        return (self.best, *self.tied)


@dataclass(frozen=True)
class Standing:
    """One scheme over all points."""

    scheme: str
    wins: int
    """Points at which it alone is best."""
    ties: int
    """Points at which it shares the best place with others."""
    mean_share: float | None
    """Mean over points of its share of the best scheme's result."""
    worst_share: float | None
    worst_point: int | None
    """The point at which it is furthest behind."""


class Summary:
    """The runs of a sweep by point and scheme. Failed runs are left out."""

    def __init__(self, plan: Plan, frame: pl.DataFrame) -> None:
        done = frame.filter(pl.col("error").is_null())
        finished = done.height and not done["completion_mean_s"].has_nulls()
        self.goal = COMPLETION if finished else GOODPUT
        self._plan = plan
        self._done = done
        self._by_seed: dict[tuple[int, str], dict[int, float]] = {}
        columns = (done[name].to_list() for name in ("point", "scheme", "seed", self.goal.column))
        for point, scheme, seed, value in zip(*columns, strict=True):
            self._by_seed.setdefault((point, scheme), {})[seed] = value
        bounds = done.group_by("point").agg(pl.col("bound_bps").mean()).iter_rows()
        self.bound_bps: dict[int, float] = dict(bounds)

    @cached_property
    def estimates(self) -> dict[tuple[int, str], Estimate]:
        """By the point's number and scheme, in the plan's order."""
        return {key: estimate(list(values.values())) for key, values in self._by_seed.items()}

    @cached_property
    def judged(self) -> dict[int, Judged]:
        """By the point's number; without the points at which nothing arrived."""
        found = {}
        for point in self._plan.points:
            here = self._here(point.number)
            if here and point.number not in self.empty:
                found[point.number] = self._judge(point.number, here)
        return found

    @cached_property
    def empty(self) -> set[int]:
        """Numbers of the points at which nothing arrived, whatever the scheme: none of them is best."""
        if self.goal is COMPLETION:
            return set()
        here = {point.number: self._here(point.number) for point in self._plan.points}
        return {number for number, found in here.items() if found and not any(e.mean for e in found.values())}

    @cached_property
    def repeated(self) -> set[int]:
        """Numbers of the points at which the runs of some scheme are identical for all seeds."""
        runs, found = pl.len().alias("runs"), pl.struct(list(MEASURES)).n_unique().alias("found")
        by_scheme = self._done.group_by("point", "scheme").agg(runs, found)
        alike = by_scheme.filter((pl.col("runs") > 1) & (pl.col("found") == 1))
        return set(alike["point"].to_list())

    @cached_property
    def standings(self) -> list[Standing]:
        return [self._standing(scheme) for scheme in self._plan.schemes]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per point and scheme."""
        rows = []
        for (number, scheme), found in self.estimates.items():
            judged, point = self.judged.get(number), self._plan.points[number - 1]
            leaders = judged.leaders if judged else ()
            values = {
                axis.name: value.number if axis.is_number else value.text
                for axis, value in zip(self._plan.axes, point.values, strict=True)
            }
            rows.append(
                {
                    "point": number,
                    **values,
                    "scheme": scheme,
                    "seeds": found.n,
                    self.goal.column: found.mean,
                    "half_width": found.half_width,
                    "share_of_best": self._share(number, scheme) if judged else None,
                    "best": scheme in leaders,
                    "tied": scheme in leaders and len(leaders) > 1,
                }
            )
        return pl.DataFrame(rows, infer_schema_length=None)

    def _here(self, point: int) -> dict[str, Estimate]:
        """Returns what each scheme reached at this point."""
        return {s: e for s in self._plan.schemes if (e := self.estimates.get((point, s)))}

    def _judge(self, point: int, here: Mapping[str, Estimate]) -> Judged:
        sign = -1 if self.goal.higher_is_better else 1
        ranked = sorted(here, key=lambda scheme: sign * here[scheme].mean)
        best, others = ranked[0], ranked[1:]
        gaps = {other: self._gap(point, best, other) for other in others}
        # A single seed has no interval: only equal results are then called ties.
        tied = tuple(
            s
            for s, gap in gaps.items()
            if (gap.mean == 0 if gap.half_width is None else not separates(gap, here[s].mean))
        )
        if not others or not here[others[0]].mean:
            return Judged(best, tied, None)
        return Judged(best, tied, gaps[others[0]].scaled(1 / here[others[0]].mean))

    def _gap(self, point: int, best: str, other: str) -> Estimate:
        """Returns how far the best is ahead, on the seeds that both have run."""
        values, others = self._by_seed[point, best], self._by_seed[point, other]
        seeds = [seed for seed in values if seed in others]
        mine, theirs = [values[seed] for seed in seeds], [others[seed] for seed in seeds]
        return (
            paired_difference(mine, theirs) if self.goal.higher_is_better else paired_difference(theirs, mine)
        )

    def _share(self, point: int, scheme: str) -> float:
        """Returns the scheme's share of the best result: of goodput the ratio, of time its inverse."""
        mine, best = self.estimates[point, scheme].mean, self.estimates[point, self.judged[point].best].mean
        over, under = (mine, best) if self.goal.higher_is_better else (best, mine)
        return over / under if under else 1.0

    def _standing(self, scheme: str) -> Standing:
        shares = {
            number: self._share(number, scheme)
            for number in self.judged
            if (number, scheme) in self.estimates
        }
        led = [judged for judged in self.judged.values() if scheme in judged.leaders]
        worst = min(shares, key=lambda number: shares[number], default=None)
        return Standing(
            scheme=scheme,
            wins=sum(not judged.tied for judged in led),
            ties=sum(bool(judged.tied) for judged in led),
            mean_share=fmean(shares.values()) if shares else None,
            worst_share=None if worst is None else shares[worst],
            worst_point=worst,
        )


def verdict(plan: Plan, summary: Summary, *, replays: bool = False) -> str:
    """Returns the sweep in a sentence or two. `replays`: whether the path replays a recording."""
    return " ".join(text for text in (_best(plan, summary, replays), _empty(summary)) if text)


def _empty(summary: Summary) -> str:
    """Says at how many points nothing arrived."""
    if not summary.empty:
        return ""
    where = f"{len(summary.empty)} of {len(summary.empty) + len(summary.judged)} points"
    return f"Nothing arrived at {where}, whatever the scheme: there is nothing to judge."


def _best(plan: Plan, summary: Summary, replays: bool) -> str:
    if len(plan.schemes) < 2 or not summary.judged:
        return ""
    total = len(summary.judged)
    leader = max(summary.standings, key=lambda standing: (standing.wins, standing.ties))
    tied = sum(bool(judged.tied) for judged in summary.judged.values())
    text = f"{leader.scheme} has the best {summary.goal.name} at {leader.wins} of {total} points"
    if not leader.wins:
        text = f"No scheme is clearly best in {summary.goal.name} at any of {total} points"
    elif leader.wins < total and tied:
        text += f"; at {tied} there is no statistically clear winner with these seeds"
    text += "." + (_seeds_to_decide(plan, summary) if tied else "") + _changes(plan, summary)
    if len(plan.seeds) < 2:
        text += " A single seed gives no interval; run more."
    if summary.repeated:
        where = f"At {len(summary.repeated)} of {total} points"
        text += f" {where} all runs of some scheme are identical: {repeated_runs(replays)}"
    elif replays and len(plan.seeds) > 1:
        text += f" {STRETCH}"
    return text


def _seeds_to_decide(plan: Plan, summary: Summary) -> str:
    """Says how many seeds would separate the best from the next at most of the undecided points."""
    margins = [judged.margin for judged in summary.judged.values() if judged.tied and judged.margin]
    needed = sorted(n for margin in margins if (n := values_to_decide(margin, MOST_SEEDS)))
    if not needed or len(plan.seeds) < 2:
        return ""
    enough = needed[-(len(needed) // 4) - 1]
    decided = sum(n <= enough for n in needed)
    return f" About {enough} seeds would decide {decided} of the {len(margins)} open points."


def _changes(plan: Plan, summary: Summary) -> str:
    """Says where the best changes along a single numeric axis."""
    if len(plan.axes) != 1 or not plan.axes[0].is_number:
        return ""
    ordered = sorted(plan.points, key=lambda point: point.values[0].number or 0.0)
    spans: list[tuple[str, str]] = []
    for point in ordered:
        judged = summary.judged.get(point.number)
        name = None if judged is None else ("a tie" if judged.tied else judged.best)
        if name is not None and (not spans or spans[-1][0] != name):
            spans.append((name, point.values[0].text))
    if not 2 <= len(spans) <= 6:
        return ""
    return f" Along {plan.axes[0].name}: " + ", ".join(f"{name} from {text}" for name, text in spans) + "."
