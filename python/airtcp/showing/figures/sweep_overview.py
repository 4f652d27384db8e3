"""Figures of sweeps that have no map: dots for a sample over two keys, more keys side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airtcp.showing.figures.canvas import Canvas, legend_beside
from airtcp.showing.figures.style import GREY, MARK_OF, plain_ticks
from airtcp.showing.palette import looks
from airtcp.sweep.panels import shown, values_of
from airtcp.sweep.plan import Plan, Point
from airtcp.sweep.summary import Summary

MAX_LINES = 1500
"""More lines would be a grey block: then only every n-th point is drawn."""
TIE = "tie"


def scatter(plan: Plan, summary: Summary, canvas: Canvas) -> Figure:
    """Draws a dot per point in the style of its best scheme; hollow for a tie."""
    drawn, axes = canvas.single(3.6)
    for scheme, own in looks(plan.schemes).items():
        if not canvas.shows(scheme):
            continue
        look: dict[str, Any] = {"edgecolors": own.colour, "marker": MARK_OF[own.mark], "s": 16, "lw": 0.6}
        led = [point for point in plan.points if _best(summary, point) == scheme]
        clear = [point for point in led if not summary.judged[point.number].tied]
        tied = [point for point in led if summary.judged[point.number].tied]
        if led:
            axes.scatter(*_numbers(plan, clear), label=scheme, facecolors=own.colour, **look)
            axes.scatter(*_numbers(plan, tied), facecolors="none", **look)
    axes.scatter([], [], facecolors="none", edgecolors=GREY, marker="o", s=16, lw=0.6, label="a tie (hollow)")
    for axis, side in ((plan.axes[0], "x"), (plan.axes[1], "y")):
        axes.set(**{f"{side}label": axis.label, f"{side}scale": "log" if axis.logarithmic else "linear"})
    plain_ticks(axes)
    axes.margins(0.03)
    legend_beside(axes, axes.get_legend_handles_labels()[1], canvas)
    return drawn


def overview(plan: Plan, summary: Summary, canvas: Canvas) -> Figure:
    """Draws a line per point across all keys, in the colour of its best scheme; grey for a tie."""
    drawn, axes = canvas.single(3.6)
    places = [_places(plan, axis) for axis in range(len(plan.axes))]
    points = [point for point in plan.points if point.number in summary.judged]
    step = -(-len(points) // MAX_LINES)
    seen = dict[str, int]()
    for point in points[::step]:
        judged = summary.judged[point.number]
        if not canvas.shows(judged.best):
            continue
        name = TIE if judged.tied else judged.best
        seen[name] = seen.get(name, 0) + 1
        y = [column[value.text] for column, value in zip(places, point.values, strict=True)]
        axes.plot(range(len(y)), y, label="" if seen[name] > 1 else name, **_look(plan, name))
    _scales(axes, plan)
    legend_beside(axes, [name for name in (*plan.schemes, TIE) if name in seen], canvas)
    if step > 1:
        axes.set_title(f"every {step}th of {len(points)} points", loc="right", fontsize=7, color=GREY)
    return drawn


def _best(summary: Summary, point: Point) -> str | None:
    judged = summary.judged.get(point.number)
    return judged.best if judged else None


def _numbers(plan: Plan, points: Sequence[Point]) -> tuple[list[float], list[float]]:
    x, y = (
        [(point.values[place].number or 0.0) / (axis.unit.size if axis.unit else 1) for point in points]
        for place, axis in enumerate(plan.axes)
    )
    return x, y


def _places(plan: Plan, place: int) -> dict[str, float]:
    """Returns positions from 0 to 1 on the key's scale."""
    axis, values = plan.axes[place], values_of(plan, place)
    if not axis.is_number or len(values) < 2:
        return {value.text: index / max(len(values) - 1, 1) for index, value in enumerate(values)}
    numbers = [value.number or 0.0 for value in values]
    if axis.logarithmic and numbers[0] > 0:
        numbers = [math.log(number) for number in numbers]
    low, high = numbers[0], numbers[-1]
    return {v.text: (number - low) / (high - low) for v, number in zip(values, numbers, strict=True)}


def _look(plan: Plan, name: str) -> dict[str, Any]:
    if name == TIE:
        return {"color": GREY, "ls": (0, (2, 2)), "lw": 0.5, "alpha": 0.6, "zorder": 1}
    return {"color": looks(plan.schemes)[name].colour, "lw": 0.7, "alpha": 0.7, "zorder": 2}


def _scales(axes: Axes, plan: Plan) -> None:
    """Labels the ends of each key's axis with its lowest and highest value."""
    axes.set_xticks(range(len(plan.axes)), [axis.label.replace(" [", "\n[") for axis in plan.axes])
    axes.set_xlim(-0.2, len(plan.axes) - 0.8)
    axes.set_ylim(-0.08, 1.08)
    axes.yaxis.set_visible(False)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.grid(visible=False)
    for place, axis in enumerate(plan.axes):
        axes.axvline(place, color="black", lw=0.6)
        values = values_of(plan, place)
        for value, y, side in ((values[0], -0.02, "top"), (values[-1], 1.02, "bottom")):
            axes.text(place, y, shown(axis, value), ha="center", va=side, fontsize=7)
