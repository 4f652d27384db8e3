"""Where the answer would be another one: the candidates on paths like this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from airtcp._engine import Scenario
from airtcp.advise.bench import Bench, Document, Trial
from airtcp.advise.candidates import Candidate
from airtcp.advise.standing import Standing, standings
from airtcp.advise.surroundings import Grid, Point, changes
from airtcp.records import Run
from airtcp.summary import Objective, objective

LEAST = 4
"""Candidates that are tried around the path, however much a run costs."""
SHORTEST_S = 10.0


@dataclass
class Around:
    """What has been run around the path, by point and candidate."""

    grid: Grid
    path: Document
    now: str
    runs: dict[Point, dict[str, list[Run]]] = field(default_factory=dict)

    def run(self, scenario: Scenario, candidates: Sequence[Candidate], seeds: int, bench: Bench) -> None:
        trials = {
            point: Trial(scenario.vary(changes(point, self.path)), candidates, seeds)
            for point in self.grid.points()
        }
        bench.run(trials, self._keep)

    def standings(self, point: Point) -> list[Standing]:
        """From best to worst at this point; empty where `now` has not run there."""
        runs = self.runs.get(point, {})
        if self.now not in runs:
            return []
        return standings(runs, self.goal(point), self.now)

    def goal(self, point: Point) -> Objective:
        return objective([run for of_candidate in self.runs[point].values() for run in of_candidate])

    def _keep(self, point: Point, name: str, run: Run) -> None:
        self.runs.setdefault(point, {}).setdefault(name, []).append(run)


def affordable(
    ranked: Sequence[Candidate],
    must: Sequence[Candidate],
    events: Mapping[str, float],
    budget: float,
    points_and_seeds: int,
) -> tuple[list[Candidate], float]:
    """Those that are tried at every point, and the share of the duration that the budget leaves them.

    `must`, then the best, as many as `budget` allows, at least `LEAST`; `events` are those of a run by name.
    """
    wanted = list(dict.fromkeys([*must, *ranked]))
    chosen: list[Candidate] = []
    spent = 0.0
    for candidate in wanted:
        cost = points_and_seeds * events[candidate.name]
        if len(chosen) >= max(LEAST, len(must)) and spent + cost > budget:
            break
        chosen.append(candidate)
        spent += cost
    return chosen, min(1.0, budget / spent) if spent else 1.0
