"""Which candidate is best on the path: few seeds for all, more for those that are not decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from airtcp._engine import Scenario
from airtcp.advise.bench import Bench, Trial
from airtcp.advise.candidates import Candidate
from airtcp.advise.standing import SURE, gap, is_as_good, is_behind, standings
from airtcp.records import Run
from airtcp.summary import Objective, objective


@dataclass(frozen=True)
class Effort:
    """How much is run. What it depends on is in the results: events, not time."""

    screening: int
    """Seeds that every candidate runs."""
    most: int
    """Seeds that a contender runs at most."""
    beside: int
    """Seeds of each that runs beside a competitor."""
    around: int
    """Seeds of each point around the path."""
    events: int
    """Of the engine, for all of it: a core does some three million a second."""


FULL = Effort(screening=4, most=24, beside=6, around=4, events=300_000_000)
QUICK = Effort(screening=3, most=3, beside=3, around=2, events=30_000_000)


@dataclass
class Race:
    """What has been run on the path itself."""

    scenario: Scenario
    now: Candidate
    candidates: list[Candidate] = field(default_factory=list)
    runs: dict[str, list[Run]] = field(default_factory=dict)

    @property
    def goal(self) -> Objective:
        return objective([run for of_candidate in self.runs.values() for run in of_candidate])

    @property
    def ranked(self) -> list[Candidate]:
        """Those that have run, from best to worst."""
        by_name = {candidate.name: candidate for candidate in self.candidates}
        return [by_name[standing.name] for standing in standings(self.runs, self.goal, self.now.name)]

    def screen(self, bench: Bench, candidates: Sequence[Candidate], seeds: int) -> None:
        """Runs candidates that have not run yet."""
        known = {candidate.name for candidate in self.candidates}
        new = [candidate for candidate in candidates if candidate.name not in known]
        self.candidates += new
        if new:
            bench.run({None: Trial(self.scenario, new, seeds)}, self._keep)

    def decide(self, bench: Bench, effort: Effort, events: int) -> None:
        """More seeds for the undecided, the best and what is there now, until all is decided or spent."""
        until = bench.events + events
        seeds = effort.screening
        while seeds < effort.most and bench.events < until:
            more = min(seeds, effort.most - seeds)
            contenders = self._contenders()
            if len(contenders) < 2:
                return
            bench.run({None: Trial(self.scenario, contenders, more, skipped=seeds)}, self._keep)
            seeds += more

    def _contenders(self) -> list[Candidate]:
        """The best, all that might be as good, and what is there now; nothing more where that is decided."""
        goal, (best, *others) = self.goal, self.ranked
        gaps = {c: gap(self.runs[best.name], self.runs[c.name], goal, SURE) for c in others}
        open_ = [c for c, found in gaps.items() if not (is_behind(found) or is_as_good(found))]
        return list(dict.fromkeys([best, *open_, self.now])) if open_ else []

    def _keep(self, _: None, name: str, run: Run) -> None:
        self.runs.setdefault(name, []).append(run)
