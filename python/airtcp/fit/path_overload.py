"""Writes what UDP's losses are: overflow of the queue that it filled, or the link's own."""

from __future__ import annotations

from airtcp.fit.draft import LINK, Draft, number, percent, rate, table, text
from airtcp.fit.evidence import From, there
from airtcp.fit.findings import Finding, Reading, Unknown
from airtcp.fit.measurement import Offered
from airtcp.fit.overload import Overload

NEGLIGIBLE = 0.01
"""A reading less likely than this is not listed."""


def put_overflow(draft: Draft, source: From[Offered], found: Overload) -> None:
    """Reports the losses of a sender that was faster than the link; the scenario has none of them."""
    draft.found.append(
        Finding(
            "overflow",
            f"{percent(found.share)} of what was sent",
            "",
            f"{source.name} sent {rate(found.sent_bps)}, and {rate(found.arrived_bps)} arrived: the rest "
            "found the queue full. It is not counted as loss of the link.",
        )
    )


def put_readings_of_overload(draft: Draft, source: From[Offered], found: Overload) -> None:
    """Lists both readings, the assumed one first, unless one is all but certain."""
    if not NEGLIGIBLE <= found.likelihood <= 1 - NEGLIGIBLE:
        return
    back = ".reverse" if source.what.direction == "reverse" else ""
    full = Reading(
        f"the sender was faster than the link ({percent(found.likelihood, 2)} likely)",
        (
            (f"link.{LINK}{back}.rate", text(rate(found.arrived_bps))),
            (f"link.{LINK}{back}.loss", "{}"),
        ),
        found.likelihood,
    )
    random = Reading(
        f"the link lost them ({percent(1 - found.likelihood, 2)} likely)",
        (
            (f"link.{LINK}{back}.rate", text(rate(found.sent_bps))),
            (f"link.{LINK}{back}.loss", table(packet=number(found.share))),
        ),
        1 - found.likelihood,
    )
    assumed, other = (full, random) if found.is_likely else (random, full)
    draft.unknown.append(
        Unknown(
            f"what lost {percent(found.share)} of {source.name} {there(source.what.direction)}",
            "A count of losses does not show whether they are overflow of the queue or the link's own.",
            f"The fit assumes that {assumed.name}; it is also possible that {other.name}.",
            "The same test at half the rate would show it.",
            (Reading(assumed.name, (), assumed.likelihood), other),
        )
    )
