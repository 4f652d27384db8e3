"""Properties of a scenario, and the runs that it asks for."""

from __future__ import annotations

import tomllib
from typing import Any

from airtcp._engine import Scenario, rate_in_bps

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


WAY = ("direction", "enter", "leave", "from", "to", "via", "return_via")
"""The keys of a flow that say which way it takes: some of a chain's, some of a network's."""


def way(flow: Document) -> Document:
    """Returns where a flow begins and ends, and what it crosses."""
    return {key: flow[key] for key in WAY if key in flow}


def crosses(path: Document, flow: Document, link: str) -> bool:
    """Returns whether a flow crosses the link, there and back."""
    if "via" in flow:
        return link in flow["via"] and link in flow["return_via"]
    names = [each["name"] for each in path["link"]]
    return names.index(flow["enter"]) <= names.index(link) <= names.index(flow["leave"])


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


def link_rate_bps(path: Document) -> float | None:
    """Returns the lowest forward rate of the path's links; None if one varies."""
    rates = [link.get("rate") for link in path["link"]]
    known = [rate_in_bps(rate) for rate in rates if isinstance(rate, str)]
    return min(known) if len(known) == len(rates) and known else None


def headline(scenario: Scenario) -> str:
    """Returns name, description, and the number of runs."""
    runs = f"{scenario.seeds} seed{'s' if scenario.seeds > 1 else ''} × {scenario.duration_s:g} s"
    title = ": ".join(part for part in (scenario.name, scenario.description) if part)
    return f"{title}\n{runs}, profile {scenario.profile}"
