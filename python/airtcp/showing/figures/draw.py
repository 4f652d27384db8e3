"""Draws a figure's data with Matplotlib, for paper; the page's script does so for a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from airtcp.showing.figures.marks import draw_mark, legend_of
from airtcp.showing.figures.style import GREY, WIDTH_IN, blank, plain_ticks
from airtcp.showing.palette import Look, looks
from airtcp.showing.report.figure import Figure, Mark

PX_PER_IN = 128
"""Pixels of a figure's height per inch: print is denser than a screen."""
COLUMNS_FROM = 4
"""Number of panels from which they are in two columns."""
LETTER_IN = 0.062
"""Mean width of a letter at the figures' font size."""
TOP_IN, BOTTOM_IN, GAP_IN = 0.32, 0.42, 0.24


def drawing(
    shown: Figure,
    context: str = "",
    *,
    schemes: Sequence[str] | None = None,
    time: tuple[float, float] | None = None,
    size: tuple[float, float] | None = None,
    axes: Axes | None = None,
) -> Drawing:
    """Draws the figure, on a new canvas or in `axes`. `context` says what it shows.

    `schemes` selects schemes, `time` an interval in seconds; `size` is width and height in inches.
    """
    own = looks(mark.scheme for mark in shown.marks if mark.scheme)
    picked = _picked(shown, schemes)
    if axes is not None:
        if picked.panels:
            raise ValueError("a figure with one panel per scheme needs the whole figure: omit `ax`")
        _fill(axes, picked, picked.marks, own, time)
        _label(axes, picked)
        return axes.figure.figure
    draw = _with_panels if picked.panels else _single
    return draw(picked, own, context, time, size)


def _picked(shown: Figure, schemes: Sequence[str] | None) -> Figure:
    """Returns the visible part: without other schemes and hidden parts."""
    hidden = {part.name for part in shown.parts if not part.shown}
    marks = [mark for mark in shown.marks if mark.part not in hidden]
    if schemes is None:
        return replace(shown, marks=marks)
    there = {mark.scheme for mark in marks if mark.scheme}
    if missing := [scheme for scheme in schemes if scheme not in there]:
        raise ValueError(f"no scheme `{missing[0]}` in this figure; there are: {', '.join(sorted(there))}")
    return replace(
        shown,
        marks=[mark for mark in marks if mark.scheme is None or mark.scheme in schemes],
        panels=[panel for panel in shown.panels if panel not in there or panel in schemes],
    )


def _single(
    shown: Figure,
    own: Mapping[str, Look],
    context: str,
    time: tuple[float, float] | None,
    size: tuple[float, float] | None,
) -> Drawing:
    width, height = size or (WIDTH_IN, TOP_IN + BOTTOM_IN + max(shown.height, 120) / PX_PER_IN)
    drawn = blank(width, height)
    axes = drawn.add_subplot()
    _fill(axes, shown, shown.marks, own, time)
    _label(axes, shown)
    names = _categories(shown.marks, "y") if shown.y.categories else []
    handles, labels = legend_of(shown, own)
    left = 0.16 + LETTER_IN * max(map(len, names)) if names else 0.62
    right = 0.5 + LETTER_IN * max(map(len, labels)) if labels else 0.12
    if labels:
        axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(1, 1), borderaxespad=0.2)
    drawn.subplots_adjust(
        left=left / width, right=1 - right / width, bottom=BOTTOM_IN / height, top=1 - TOP_IN / height
    )
    _title(drawn, axes, shown, context)
    return drawn


def _with_panels(
    shown: Figure,
    own: Mapping[str, Look],
    context: str,
    time: tuple[float, float] | None,
    size: tuple[float, float] | None,
) -> Drawing:
    columns = 1 if len(shown.panels) < COLUMNS_FROM else 2
    rows = -(-len(shown.panels) // columns)
    panel_in = shown.height / PX_PER_IN
    width, height = size or (WIDTH_IN, TOP_IN + BOTTOM_IN + rows * panel_in + (rows - 1) * GAP_IN)
    drawn = blank(width, height)
    grid = drawn.subplots(rows, columns, sharex=True, sharey=not shown.own_y, squeeze=False)
    panels: list[Axes] = list(grid.flat)
    for panel, name in zip(panels, shown.panels, strict=False):
        _fill(panel, shown, [mark for mark in shown.marks if mark.panel in (name, None)], own, time)
        # Matplotlib would lay out a real title again at each drawing.
        panel.text(0, 1.02, name, transform=panel.transAxes, fontweight="bold", va="bottom")
    for spare in panels[len(shown.panels) :]:
        spare.set_visible(False)
        # The panel above a gap has the labels of the x axis.
        panels[panels.index(spare) - columns].tick_params(labelbottom=True)
    handles, labels = legend_of(shown, own)
    drawn.subplots_adjust(
        left=0.62 / width,
        right=1 - 0.12 / width,
        bottom=BOTTOM_IN / height,
        top=1 - (TOP_IN + 0.16) / height,
        hspace=GAP_IN / panel_in,
        wspace=0.09,
    )
    if len(labels) > 1:
        drawn.legend(handles, labels, loc="upper right", ncols=len(labels), borderaxespad=0.1)
    drawn.text(0.5, 0.06 / height, shown.x.label, ha="center", va="bottom")
    drawn.text(0.08 / width, 0.5, shown.y.label, ha="left", va="center", rotation=90)
    _title(drawn, panels[0], shown, context)
    return drawn


def _fill(
    axes: Axes,
    shown: Figure,
    marks: Sequence[Mark],
    own: Mapping[str, Look],
    time: tuple[float, float] | None,
) -> None:
    for side, axis in (("x", shown.x), ("y", shown.y)):
        if axis.log:
            axes.set(**{f"{side}scale": "log"})
        if axis.categories:
            _ticks(axes, side, _categories(marks, side))
    places = {
        name: place for place, name in enumerate(_categories(marks, "y" if shown.y.categories else "x"))
    }
    for mark in marks:
        draw_mark(axes, mark, own, places)
    _limits(axes, shown, marks, time)
    plain_ticks(axes)


def _ticks(axes: Axes, side: str, names: Sequence[str]) -> None:
    getattr(axes, f"set_{side}ticks")(range(len(names)), names)
    axes.tick_params(axis=side, length=0)  # type: ignore[arg-type]
    axes.grid(visible=False, axis=side)  # type: ignore[arg-type]
    if side == "y":
        axes.set_ylim(len(names) - 0.45, -0.55)


def _categories(marks: Sequence[Mark], side: str) -> list[str]:
    return list(
        dict.fromkeys(value for mark in marks for value in getattr(mark, side) if isinstance(value, str))
    )


def _limits(axes: Axes, shown: Figure, marks: Sequence[Mark], time: tuple[float, float] | None) -> None:
    if time is not None:
        if not shown.x.time:
            raise ValueError("`time` applies only to figures over time")
        axes.set_xlim(*time)
        if not shown.y.log:
            low, high = _heights(marks, time)
            axes.set_ylim(
                0 if shown.y.from_zero else low - 0.04 * (high - low), high + 0.04 * (high - low or 1)
            )
        return
    for axis, side in ((shown.x, "x"), (shown.y, "y")):
        if not axis.categories and not axis.log:
            ends: dict[str, Any] = {"left" if side == "x" else "bottom": 0} if axis.from_zero else {}
            if axis.end is not None:
                ends["right" if side == "x" else "top"] = axis.end
            getattr(axes, f"set_{side}lim")(**ends)


def _heights(marks: Sequence[Mark], time: tuple[float, float]) -> tuple[float, float]:
    """Returns the lowest and highest value in that interval."""
    values = [
        float(y)
        for mark in marks
        for ys in (mark.y, getattr(mark, "high", ()))
        for x, y in zip(mark.x, ys, strict=False)
        if isinstance(x, float | int) and isinstance(y, float | int) and time[0] <= x <= time[1]
    ]
    return (min(values), max(values)) if values else (0.0, 1.0)


def _label(axes: Axes, shown: Figure) -> None:
    axes.set(xlabel=shown.x.label, ylabel=shown.y.label)


def _title(drawn: Drawing, axes: Axes, shown: Figure, context: str) -> None:
    """Puts the title at the left edge of the axes, the context at the right edge of the figure."""
    width, height = drawn.get_size_inches()
    y = 1 - 0.07 / height
    left = axes.get_position().x0
    drawn.text(left, y, shown.title, ha="left", va="top", fontweight="bold")
    if context:
        at = left + LETTER_IN * 1.25 * (len(shown.title) + 2) / width
        drawn.text(at, y, context, ha="left", va="top", color=GREY)
