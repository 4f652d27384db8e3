"""Locates the gateway on a path."""

from __future__ import annotations

from airtcp.facts.routes import crosses
from airtcp.facts.scenario import Document


def passes_gateway(path: Document) -> bool:
    """Returns whether every flow that carries the compared scheme passes the base station."""
    compared = [flow for flow in path["flow"] if "scheme" not in flow]
    return all(crosses(path, flow, path["base_station"]) for flow in compared)


def wireless(path: Document) -> Document:
    """Returns the link behind the base station."""
    link: Document = next(link for link in path["link"] if link["name"] == path["base_station"])
    return link
