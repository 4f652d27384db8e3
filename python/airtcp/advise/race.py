"""Finds the best candidate on a path: few seeds for all, more for those undecided."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from statistics import fmean
from typing import TypeVar

from airtcp._engine import Scenario
from airtcp.advise.bench import Bench, Trial
from airtcp.advise.candidates import Candidate
from airtcp.advise.standing import SURE, Standing, gap, is_as_good, is_behind, standings
from airtcp.facts.arrival import nothing_arrived
from airtcp.facts.records import Run
from airtcp.facts.scenario import document, is_recorded
from airtcp.facts.stats import Estimate
from airtcp.facts.summary import Objective, objective

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Effort:
    """How much to run. It depends only on the results (events), not on time."""

    screening: int
    """Seeds that every candidate runs."""
    most: int
    """Most seeds that a contender runs."""
    against_now: int
    """Most seeds that the best deployable one and the present one run to decide between them."""
    beside: int
    """Seeds of each candidate that runs beside a competitor."""
    around: int
    """Initial seeds at each point around the path."""
    events: int
    """Limit on the engine's events in total; a core processes some three million a second."""


FULL = Effort(screening=4, most=24, against_now=24, beside=6, around=4, events=200_000_000)
QUICK = Effort(screening=3, most=3, against_now=12, beside=3, around=2, events=20_000_000)


@dataclass
class Race:
    """The runs on one path."""

    scenario: Scenario
    now: Candidate
    candidates: list[Candidate] = field(default_factory=list)
    runs: dict[str, list[Run]] = field(default_factory=dict)

    @property
    def goal(self) -> Objective:
        return objective([run for of_candidate in self.runs.values() for run in of_candidate])

    @property
    def nothing_arrived(self) -> str | None:
        """Says so; None if something arrived in any run."""
        return nothing_arrived([run for of_candidate in self.runs.values() for run in of_candidate])

    @property
    def has_run(self) -> list[Candidate]:
        return [candidate for candidate in self.candidates if candidate.name in self.runs]

    @property
    def ranked(self) -> list[Candidate]:
        """The candidates that have run, from best to worst."""
        return [self.named(standing.name) for standing in self.standings()]

    def named(self, name: str) -> Candidate:
        """Returns the candidate of that name, which must exist."""
        return next(candidate for candidate in self.candidates if candidate.name == name)

    def standings(self, among: Sequence[Candidate] | None = None) -> list[Standing]:
        """Returns standings from best to worst, of all or of some; empty if the current scheme has not
        run."""
        if self.now.name not in self.runs:
            return []
        names = {c.name for c in self.has_run if among is None or c in among}
        # In the order of the candidates, not of their runs.
        runs = {c.name: self.runs[c.name] for c in self.candidates if c.name in names}
        means = {name: self.mean(name, self.goal.of) or 0.0 for name in runs}
        return standings(runs, means, self.goal)

    def mean(self, name: str, of: Callable[[Run], float | None]) -> float | None:
        """Returns the mean over the candidate's seeds, scaled to all seeds of the current scheme; None
        without a value."""
        found = [value for run in self.runs[name] if (value := of(run)) is not None]
        return fmean(found) * self.to_all_seeds(name, of) if found else None

    def to_all_seeds(self, name: str, of: Callable[[Run], float | None]) -> float:
        """Returns the factor that scales the mean over its seeds to all seeds of the current scheme.

        In a recording, seeds are different places, some easier than others: the factor is the current
        scheme's mean on all its seeds, over its mean on the common ones. Elsewhere seeds differ only by
        chance, and the factor is 1.
        """
        if not self._is_recorded:
            return 1.0
        seeds = {run["seed"] for run in self.runs[name]}
        now = [(run["seed"], value) for run in self.runs[self.now.name] if (value := of(run)) is not None]
        common = [value for seed, value in now if seed in seeds]
        return fmean(value for _, value in now) / fmean(common) if any(common) else 1.0

    @cached_property
    def _is_recorded(self) -> bool:
        return is_recorded(document(self.scenario))

    def gap(self, best: Candidate, other: Candidate, confidence: float = SURE) -> Estimate:
        """Returns how much worse `other` does than `best`."""
        return gap(self.runs[best.name], self.runs[other.name], self.goal, confidence)

    def screening(self, candidates: Sequence[Candidate], seeds: int) -> list[Trial]:
        """Returns trials for the candidates that have not run yet."""
        known = {candidate.name for candidate in self.candidates}
        new = [candidate for candidate in candidates if candidate.name not in known]
        self.candidates += new
        return [Trial(self.scenario, new, seeds)] if new else []

    def open(self) -> list[Candidate]:
        """Returns the best, the current scheme, and all that might be as good; empty once decided."""
        return self._open(self.ranked)

    def open_deployable(self) -> list[Candidate]:
        """Like `open`, among deployable candidates only."""
        return self._open([c for c in self.ranked if c.deployable or c == self.now])

    def _open(self, ranked: Sequence[Candidate]) -> list[Candidate]:
        best, *others = ranked
        undecided = [c for c in others if not _decided(self.gap(best, c))]
        return list(dict.fromkeys([best, self.now, *undecided])) if undecided else []

    def open_against_now(self) -> list[Candidate]:
        """Returns the best deployable and the current candidate, unless their order is decided."""
        best = next(c for c in self.ranked if c.deployable or c == self.now)
        return [] if best == self.now or _decided(self.gap(best, self.now)) else [best, self.now]

    def open_between(self, chosen: Candidate) -> list[Candidate]:
        """Returns the best, the current and the chosen candidate, unless their order is decided."""
        best = self.ranked[0]
        undecided = [c for c in (self.now, chosen) if c != best and not _decided(self.gap(best, c))]
        return list(dict.fromkeys([best, self.now, chosen])) if undecided else []

    def keep(self, name: str, run: Run) -> None:
        self.runs.setdefault(name, []).append(run)

    def lacking(self, candidates: Sequence[Candidate], seeds: int) -> list[Trial]:
        """Returns trials that bring the candidates up to `seeds`."""

        def done(candidate: Candidate) -> int:
            return len(self.runs[candidate.name])

        short = sorted((c for c in candidates if done(c) < seeds), key=done)
        return [
            Trial(self.scenario, list(group), seeds - n, skipped=n) for n, group in groupby(short, key=done)
        ]


def screen(races: Mapping[K, Race], candidates: Sequence[Candidate], seeds: int, bench: Bench) -> None:
    """Runs candidates on the paths where they have not run yet."""
    _run(races, {key: race.screening(candidates, seeds) for key, race in races.items()}, bench)


def decide(
    races: Mapping[K, Race],
    undecided: Callable[[Race], Sequence[Candidate]],
    first: int,
    most: int,
    bench: Bench,
    until: int,
) -> None:
    """Runs more seeds of what `undecided` names, from `first` to `most`, until `until` events are spent."""
    seeds = first
    while bench.events < until:
        trials = {key: race.lacking(undecided(race), seeds) for key, race in races.items()}
        if any(trials.values()):
            _run(races, trials, bench)
        elif seeds >= most or not any(undecided(race) for race in races.values()):
            return
        else:
            seeds = min(2 * seeds, most)


def run_lacking(races: Mapping[K, Race], candidates: Sequence[Candidate], seeds: int, bench: Bench) -> bool:
    """Brings candidates up to `seeds`; returns whether any lacked some."""
    trials = {key: race.lacking(candidates, seeds) for key, race in races.items()}
    _run(races, trials, bench)
    return any(trials.values())


def _run(races: Mapping[K, Race], trials: Mapping[K, Sequence[Trial]], bench: Bench) -> None:
    each = {(key, place): trial for key, found in trials.items() for place, trial in enumerate(found)}
    bench.run(each, lambda key, name, run: races[key[0]].keep(name, run))


def _decided(found: Estimate) -> bool:
    return is_behind(found) or is_as_good(found)
