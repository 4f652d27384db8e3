"""What is tried around the path, as far as it can be paid for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from airtcp.advise.candidates import Candidate
from airtcp.advise.race import Race
from airtcp.advise.surroundings import Grid, Point

LEAST = 4
"""Candidates that are tried around the path, however much a run costs."""
SHORTEST_S = 10.0


@dataclass
class Around:
    """What has been run around the path."""

    grid: Grid
    races: dict[Point, Race] = field(default_factory=dict)


def affordable(
    ranked: Sequence[Candidate],
    must: Sequence[Candidate],
    events: Mapping[str, float],
    budget: float,
    runs: int,
) -> tuple[list[Candidate], float]:
    """Those that `budget` can pay, and the share of the duration that it leaves them.

    `must`, then the best, as many as it allows, at least `LEAST`. `events` are those of a run by name, `runs`
    how many each would run.
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
