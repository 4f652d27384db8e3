"""Tells on which of several links schemes act."""

from __future__ import annotations

from collections.abc import Sequence

from airtcp._engine import Scenario, schemes
from airtcp.facts.scenario import document
from airtcp.facts.scheme import Scheme
from airtcp.facts.verdict import listed


def placement_notes(scenario: Scenario, compared: Sequence[str]) -> list[str]:
    """Names the link at which schemes have a base station's machine or a queue, if the path has several."""
    path = document(scenario)
    names = [*compared, *(flow["scheme"] for flow in path["flow"] if "scheme" in flow)]
    acting = [scheme for scheme in dict.fromkeys(names) if _acts(Scheme(scheme))]
    if len(path["link"]) < 2 or not acting:
        return []
    verb = "acts" if len(acting) == 1 else "act"
    where = f"In front of link {path['base_station']} {verb} {listed(acting)}"
    return [f'{where}; base_station = "…" names another link.']


def _acts(scheme: Scheme) -> bool:
    machines = {spec["name"] for spec in schemes() if spec["part"] == "base station"}
    return scheme.queue is not None or not machines.isdisjoint(scheme.names)
