"""Arranges the points of a grid in panels: the first key across, the second up, a panel for the rest."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from airtcp.sweep.grammar import Value, number_text
from airtcp.sweep.plan import Axis, Plan

MAX_PANELS = 12
"""More maps cannot be compared by eye."""
MAX_CELLS = 60
"""Limit along one side of a map."""


@dataclass(frozen=True)
class Panel:
    """A map at fixed values of all keys but two."""

    title: str
    points: Sequence[Sequence[int]]
    """Numbers of points, a row for each value of the second key."""


def values_of(plan: Plan, axis: int) -> list[Value]:
    """Returns a key's values, ascending if they are numbers."""
    found = list({point.values[axis].text: point.values[axis] for point in plan.points}.values())
    return sorted(found, key=lambda value: value.number or 0.0) if plan.axes[axis].is_number else found


def shown(axis: Axis, value: Value) -> str:
    """Formats a value for a tick: three figures, without the unit, which the axis has."""
    if axis.unit is None or value.number is None:
        return value.text
    return number_text(float(f"{value.number / axis.unit.size:.3g}"))


def panels(plan: Plan) -> list[Panel]:
    """Returns nothing if the points are no grid of two keys or more, or cannot be shown in maps."""
    if plan.hypercube or len(plan.axes) < 2:
        return []
    across, up, *others = (values_of(plan, axis) for axis in range(len(plan.axes)))
    if max(len(across), len(up)) > MAX_CELLS:
        return []
    places = {tuple(value.text for value in point.values): point.number for point in plan.points}
    found = []
    for rest in itertools.islice(itertools.product(*others), MAX_PANELS + 1):
        texts = [value.text for value in rest]
        rows = [[places[x.text, y.text, *texts] for x in across] for y in up]
        names = (f"{axis.name}={text}" for axis, text in zip(plan.axes[2:], texts, strict=True))
        found.append(Panel(", ".join(names), rows))
    return found if len(found) <= MAX_PANELS else []
