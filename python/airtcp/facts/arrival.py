"""Tells where nothing arrives: such runs compare nothing."""

from __future__ import annotations

from collections.abc import Sequence

from airtcp.facts.records import Flow, Run

CAUSES = {
    "losses_corruption": "corrupted",
    "losses_congestion": "dropped by queues",
    "losses_outage": "lost in outages",
}


def nothing_arrived(runs: Sequence[Run]) -> str | None:
    """Says in two sentences that no measured flow received anything in any run, and why.

    None if something arrived, or if nothing has run.
    """
    flows = [flow for run in runs for flow in run["flows"] if flow["measured"]]
    if not flows or any(flow["bytes_received"] for flow in flows):
        return None
    when = " after the warm-up" if runs[0]["warmup_s"] else ""
    said = f"Nothing arrived{when}: no measured flow received a byte, so there is nothing to judge."
    return f"{said} {_why(flows)}"


def _why(flows: Sequence[Flow]) -> str:
    sent = sum(flow["data_packets_sent"] for flow in flows)
    if not sent:
        return "No data was sent: no connection was established, or none was opened."
    lost = {said: sum(flow[cause] for flow in flows) for cause, said in CAUSES.items()}  # type: ignore[literal-required]
    told = ", ".join(f"{count} {said}" for said, count in lost.items() if count)
    return f"Of {sent} data packets sent, {told or 'none was lost: they were still under way at the end'}."
