"""What a scheme leaves to another flow on the same path."""

from __future__ import annotations

from collections.abc import Sequence

from airtcp.facts.records import Run
from airtcp.facts.stats import Estimate, relative_gain

COMPETITOR = "competitor"
"""Name of the flow beside the scheme."""


def competitor_bps(run: Run) -> float:
    """Returns the competitor's goodput."""
    return sum(flow["goodput_bps"] for flow in run["flows"] if flow["name"] == COMPETITOR)


def kept(beside_scheme: Sequence[float], beside_its_own: Sequence[float]) -> Estimate | None:
    """Returns the competitor's goodput beside the scheme over that beside a flow of its own kind.

    The values are paired by seed. 1 is as fair as to its own kind; None if it carries nothing in any case.
    """
    lost = relative_gain(beside_scheme, beside_its_own)
    return None if lost is None else Estimate(1 + lost.mean, lost.half_width, lost.n)
