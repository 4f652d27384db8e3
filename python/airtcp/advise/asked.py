"""What somebody asks who wants advice: the places under control, and what the path carries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from airtcp._engine import Scenario
from airtcp.advise.deployment import Place

Control = Literal["sender", "receiver", "both", "gateway"]
CONTROLS: dict[Control, frozenset[Place]] = {
    "sender": frozenset({"sender"}),
    "receiver": frozenset({"receiver"}),
    "both": frozenset({"sender", "receiver"}),
    "gateway": frozenset({"gateway"}),
}
Traffic = Literal["bulk", "web"]


def check_now(now: str, scenario: Scenario) -> None:
    """Refuses a scheme in use that is none, or that includes a queue. Raises ValueError."""
    if "@" in now:
        raise ValueError(f"now {now!r}: the current queue is part of the scenario: set the link's `queue`")
    scenario.vary(schemes=[now])


def controls_of(given: Control | Sequence[Control]) -> tuple[Control, ...]:
    """Returns the controls as a tuple. Raises ValueError for an unknown word."""
    controls = (given,) if isinstance(given, str) else tuple(given)
    for control in controls:
        if control not in CONTROLS:
            raise ValueError(f"control {control!r}: one or several of {', '.join(CONTROLS)}")
    return controls


def places(controls: Sequence[Control]) -> frozenset[Place]:
    """Returns the places under control: all of them if none is given."""
    chosen = controls or ("both", "gateway")
    return frozenset[Place]().union(*(CONTROLS[control] for control in chosen))
