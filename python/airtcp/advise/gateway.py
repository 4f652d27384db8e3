"""Locates the gateway on a path."""

from __future__ import annotations

from airtcp.facts.scenario import Document


def passes_gateway(path: Document) -> bool:
    """Returns whether every flow that carries the compared scheme passes the base station."""
    names = [link["name"] for link in path["link"]]
    station = names.index(path["base_station"])
    compared = [flow for flow in path["flow"] if "scheme" not in flow]
    return all(names.index(flow["enter"]) <= station <= names.index(flow["leave"]) for flow in compared)


def wireless(path: Document) -> Document:
    """Returns the link behind the base station."""
    link: Document = next(link for link in path["link"] if link["name"] == path["base_station"])
    return link
