"""Properties of a scenario, and the runs that it asks for."""

from __future__ import annotations

import tomllib
from typing import Any

from airtcp._engine import Scenario

Document = dict[str, Any]


def seeds_of(scenario: Scenario) -> list[int]:
    return list(range(scenario.seed, scenario.seed + scenario.seeds))


def plan(scenario: Scenario) -> list[tuple[int, str]]:
    """Returns seeds and schemes in the order of the runs.

    Seeds are the outer loop: the runs finished before an interruption can still be compared.
    """
    return [(seed, scheme) for seed in seeds_of(scenario) for scheme in scenario.schemes]


def document(scenario: Scenario) -> Document:
    """Returns the scenario with every default written out."""
    return tomllib.loads(scenario.to_toml())


def replays(path: Document) -> bool:
    """Returns whether all seeds meet the same stretch of a recording."""
    return is_recorded(path) and path["enter_recordings"] == "at-start"


def is_recorded(path: Document) -> bool:
    """Returns whether something on the path is a recording."""
    sides = [side for link in path["link"] for side in (link, link["reverse"])]
    return any(
        "trace" in side or "log" in side or side.get("jitter", {}).get("distribution") == "series"
        for side in sides
    )


def headline(scenario: Scenario) -> str:
    """Returns name, description, and the number of runs."""
    runs = f"{scenario.seeds} seed{'s' if scenario.seeds > 1 else ''} × {scenario.duration_s:g} s"
    title = ": ".join(part for part in (scenario.name, scenario.description) if part)
    return f"{title}\n{runs}, profile {scenario.profile}"
