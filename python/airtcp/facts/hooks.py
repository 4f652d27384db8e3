"""Tells of hooks of Python congestion controls that should have run."""

from __future__ import annotations

from collections.abc import Sequence

HookNotRun = tuple[str, str]
"""The names of the control and of the hook."""
WHY = {
    "on_ack": "it is for congestion avoidance, and the sender was always in slow start or recovery, or not"
    " limited by cwnd",
    "on_loss": "no loss was detected",
}


def hook_notes(hooks: Sequence[HookNotRun]) -> list[str]:
    """Returns a sentence for each hook."""
    return [f"{control}: {hook} never ran: {WHY[hook]}." for control, hook in hooks]
