"""Says which transfers did not finish before the end of a run."""

from __future__ import annotations

from collections.abc import Sequence

from airtcp.facts.records import Flow, Run
from airtcp.facts.scenario import Document

STILL_RUNNING = 0.1
"""Of transfers that begin at any time, this share may be under way at the end: nothing is wrong with them."""


def unfinished_notes(runs: Sequence[Run], path: Document) -> list[str]:
    """Returns a sentence that names each scheme with transfers that did not finish; nothing if all did."""
    kinds = {flow["name"]: flow["traffic"]["kind"] for flow in path["flow"]}
    counted: dict[str, tuple[int, int]] = {}
    for run in runs:
        for flow in run["flows"]:
            left = _left(flow, kinds.get(flow["name"], ""))
            if flow["measured"] and left is not None:
                open_before, all_before = counted.get(run["scheme"], (0, 0))
                counted[run["scheme"]] = open_before + left, all_before + flow["transfers_started"]
    told = [
        f"{scheme} {left} of {started} transfer{'s' if started > 1 else ''}"
        for scheme, (left, started) in counted.items()
        if left
    ]
    if not told:
        return []
    return [
        f"Not finished within {runs[0]['duration_s']:g} s: {', '.join(told)}. Goodput counts what arrived,"
        " and completion times only transfers that finished: give a longer --duration."
    ]


def _left(flow: Flow, kind: str) -> int | None:
    """Returns how many of the flow's transfers did not finish; None if it has none that end."""
    if kind not in ("bytes", "poisson"):
        return None
    left = max(0, flow["transfers_started"] - len(flow["completion_times_s"]))
    is_usual = kind == "poisson" and left <= STILL_RUNNING * flow["transfers_started"]
    return 0 if is_usual else left
