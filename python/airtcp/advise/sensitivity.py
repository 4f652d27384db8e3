"""Selects what to try around the path within the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from airtcp.advise.candidates import Candidate
from airtcp.advise.race import Race
from airtcp.advise.surroundings import Grid, Point

LEAST = 4
"""Candidates tried around the path, whatever a run costs."""
SHORTEST_S = 10.0


@dataclass
class Around:
    """The runs around the path."""

    grid: Grid
    races: dict[Point, Race] = field(default_factory=dict)


def affordable(
    ranked: Sequence[Candidate],
    must: Sequence[Candidate],
    events: Mapping[str, float],
    budget: float,
    runs: int,
) -> tuple[list[Candidate], float]:
    """Returns the candidates that `budget` allows, and the share of the duration that it leaves them.

    First `must`, then the best, at least `LEAST` in all. `events` gives the events per run by name, `runs`
    the runs of each candidate.
    """
    wanted = list(dict.fromkeys([*must, *ranked]))
    chosen: list[Candidate] = []
    spent = 0.0
    for candidate in wanted:
        cost = runs * events[candidate.name]
        if len(chosen) >= max(LEAST, len(must)) and spent + cost > budget:
            break
        chosen.append(candidate)
        spent += cost
    return chosen, min(1.0, budget / spent) if spent else 1.0
