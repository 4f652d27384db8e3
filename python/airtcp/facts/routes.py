"""The ways of a scenario's flows over its links, read from the scenario as the engine has resolved it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice

from airtcp._engine import rate_in_bps, time_in_seconds
from airtcp.facts.scenario import Document

_WAY = ("direction", "enter", "leave", "from", "to", "via", "return_via")
"""The keys of a flow that say which way it takes: some of a chain's, some of a network's."""


@dataclass(frozen=True)
class Route:
    """What one copy of a flow crosses: the tables of the links' directions, in order."""

    there: Sequence[Document]
    back: Sequence[Document]

    @property
    def sides(self) -> Sequence[Document]:
        return [*self.there, *self.back]

    @property
    def base_rtt_s(self) -> float:
        """The round-trip propagation delay, without variation; what a log's latency stands for is missing."""
        return sum(time_in_seconds(side["delay"]) for side in self.sides if "delay" in side)


def way(flow: Document) -> Document:
    """Returns the keys by which another flow, of one copy, takes the way of this flow's first copy."""
    own = {"access": flow["access"][:1]} if flow.get("access") else {}
    return {key: flow[key] for key in _WAY if key in flow} | own


def crosses(path: Document, flow: Document, link: str) -> bool:
    """Returns whether a flow crosses the link, there and back."""
    return all(link in names for names in _links(path, flow))


def measured(path: Document) -> list[tuple[str, int]]:
    """Returns the flows that are measured, by name and number of the copy; there is at least one."""
    return [(flow["name"], copy) for flow in path["flow"] if flow["measure"] for copy in range(flow["count"])]


def routes(path: Document) -> dict[tuple[str, int], Route]:
    """Returns the routes of all flows, by name and number of the copy."""
    found = ((flow["name"], enumerate(_routes(path, flow))) for flow in path["flow"])
    return {(name, copy): route for name, copies in found for copy, route in copies}


def base_rtts_s(path: Document) -> tuple[float, float]:
    """Returns the shortest and the longest round-trip propagation delay of the measured flows."""
    of = routes(path)
    found = [of[flow].base_rtt_s for flow in measured(path)]
    return min(found), max(found)


def shared_rate_bps(path: Document) -> float | None:
    """Returns the lowest rate of what the data of all measured flows crosses; None if one varies or there is
    nothing."""
    of = routes(path)
    first, *others = [of[flow].there for flow in measured(path)]
    shared = [side for side in first if all(any(side is each for each in other) for other in others)]
    rates = [rate_in_bps(side["rate"]) for side in shared if "rate" in side]
    return min(rates) if rates and len(rates) == len(shared) else None


def _routes(path: Document, flow: Document) -> Iterator[Route]:
    there, back = _links(path, flow)
    begin, end = _ends(path, flow)
    shared = Route(_sides(path, there, begin), _sides(path, back, end))
    # Each copy has an access link of its own, though several may be given by one table.
    for own in islice(cycle(flow.get("access") or [None]), flow["count"]):
        one = [] if own is None else [dict(own)]
        yield Route([*one, *shared.there], [*shared.back, *one])


def _links(path: Document, flow: Document) -> tuple[list[str], list[str]]:
    """Returns the names of the links that the data crosses, and of those that what comes back does."""
    if "via" in flow:
        return flow["via"], flow["return_via"]
    names = [link["name"] for link in path["link"]]
    between = names[names.index(flow["enter"]) : names.index(flow["leave"]) + 1]
    both = between, between[::-1]
    return both if flow["direction"] == "forward" else (both[1], both[0])


def _ends(path: Document, flow: Document) -> tuple[object, object]:
    """Returns the nodes at which the links that are written begin and end; a chain's have numbers."""
    if "via" in flow:
        return flow["from"], flow["to"]
    names = [link["name"] for link in path["link"]]
    enter, leave = names.index(flow["enter"]), names.index(flow["leave"]) + 1
    return (enter, leave) if flow["direction"] == "forward" else (leave, enter)


def _sides(path: Document, names: Sequence[str], node: object) -> list[Document]:
    """Returns the directions of these links on a way that begins at this node."""
    of = {link["name"]: (number, link) for number, link in enumerate(path["link"])}
    found = []
    for number, link in (of[name] for name in names):
        near, far = link.get("from", number), link.get("to", number + 1)
        is_forward = node == near
        found.append(link if is_forward else link["reverse"])
        node = far if is_forward else near
    return found
