"""Draws a figure's data with Matplotlib, for paper; the page's script does so for a screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from airtcp.showing.figures.labels import LINE_IN, broken, lines_of, literal, width_in
from airtcp.showing.figures.layout import (
    BESIDE_NAMES_IN,
    BOTTOM_IN,
    HANDLE_IN,
    LEFT_IN,
    RIGHT_IN,
    TOP_IN,
    Margins,
    Size,
    legend_labels,
    put_title,
    row_names,
    size_of,
)
from airtcp.showing.figures.marks import draw_mark, legend_of
from airtcp.showing.figures.style import WIDTH_IN, blank, plain_ticks
from airtcp.showing.palette import Look, looks
from airtcp.showing.report.figure import Figure, Mark

PX_PER_IN = 128
"""Pixels of a figure's height per inch: print is denser than a screen."""
COLUMNS_FROM = 4
"""Number of panels from which they are in two columns."""
LEAST_IN = 120 / PX_PER_IN
GAP_IN, BETWEEN_IN = 0.24, 0.26
"""Between panels, with one line of title: vertically and horizontally."""


ONLY_OVER_TIME = "`time` applies only to figures over time"


def no_scheme(name: str, there: Iterable[str]) -> str:
    return f"no scheme `{name}` in this figure; there are: {', '.join(sorted(there))}"


def drawing(
    shown: Figure,
    context: str = "",
    *,
    schemes: Sequence[str] | None = None,
    time: tuple[float, float] | None = None,
    size: Size | None = None,
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
        raise ValueError(no_scheme(missing[0], there))
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
    given: Size | None,
) -> Drawing:
    width = given[0] if given else WIDTH_IN
    room_in = given[1] - TOP_IN - BOTTOM_IN if given else None
    handles, texts = legend_of(shown, own)
    labels, legend_in = legend_labels(texts, width, room_in)
    rows = _categories(shown.marks, "y") if shown.y.categories else []
    names, rows_in = row_names(rows, width, room_in)
    inner_in = max(shown.height / PX_PER_IN, LEAST_IN, rows_in, legend_in)
    size = size_of(given, TOP_IN + BOTTOM_IN + inner_in)
    margins = Margins(
        BESIDE_NAMES_IN + names.width_in if rows else LEFT_IN,
        HANDLE_IN + labels.width_in if texts else RIGHT_IN,
        BOTTOM_IN,
        TOP_IN,
    )
    drawn = blank(*size)
    axes = drawn.add_subplot()
    _fill(axes, shown, shown.marks, own, time)
    if rows:
        axes.set_yticks(range(len(rows)), names.texts, fontsize=names.font_pt)
    _label(axes, shown)
    if texts:
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1, 1), "borderaxespad": 0.2}
        axes.legend(handles, labels.texts, fontsize=labels.font_pt, **place)
    drawn.subplots_adjust(**margins.inside(size))
    put_title(drawn, axes.get_position().x0 * size[0], shown.title, context)
    return drawn


def _with_panels(
    shown: Figure,
    own: Mapping[str, Look],
    context: str,
    time: tuple[float, float] | None,
    given: Size | None,
) -> Drawing:
    columns = 1 if len(shown.panels) < COLUMNS_FROM else 2
    rows = -(-len(shown.panels) // columns)
    width = given[0] if given else WIDTH_IN
    # Where the height is given, the axes and not the titles have the room.
    most_lines = 1 if given else 99
    room_in = (width - LEFT_IN - RIGHT_IN) / columns - BETWEEN_IN
    titles = [broken(name, room_in, most_lines=most_lines, bold=True) for name in shown.panels]
    title_in = LINE_IN * max(map(lines_of, titles), default=1)
    gap_in = GAP_IN - LINE_IN + title_in
    size = size_of(
        given, TOP_IN + BOTTOM_IN + title_in + rows * shown.height / PX_PER_IN + (rows - 1) * gap_in
    )
    drawn = blank(*size)
    grid = drawn.subplots(rows, columns, sharex=True, sharey=not shown.own_y, squeeze=False)
    panels: list[Axes] = list(grid.flat)
    for panel, name, title in zip(panels, shown.panels, titles, strict=False):
        _fill(panel, shown, [mark for mark in shown.marks if mark.panel in (name, None)], own, time)
        # Matplotlib would lay out a real title again at each drawing.
        panel.text(0, 1.02, literal(title), transform=panel.transAxes, fontweight="bold", va="bottom")
    for spare in panels[len(shown.panels) :]:
        spare.set_visible(False)
        # The panel above a gap has the labels of the x axis.
        panels[panels.index(spare) - columns].tick_params(labelbottom=True)
    inside = Margins(LEFT_IN, RIGHT_IN, BOTTOM_IN, TOP_IN + title_in).inside(size)
    all_in = (inside["top"] - inside["bottom"]) * size[1]
    # At least half of it is for the panels.
    gap_in = min(gap_in, all_in / (2 * rows))
    panel_in = (all_in - (rows - 1) * gap_in) / rows
    drawn.subplots_adjust(**inside, hspace=gap_in / panel_in, wspace=0.09)
    handles, labels = legend_of(shown, own)
    legend_in = 0.0
    if len(labels) > 1:
        drawn.legend(handles, labels, loc="upper right", ncols=len(labels), borderaxespad=0.1)
        legend_in = sum(HANDLE_IN + width_in(label) for label in labels)
    drawn.text(0.5, 0.06 / size[1], shown.x.label, ha="center", va="bottom")
    drawn.text(0.08 / size[0], 0.5, shown.y.label, ha="left", va="center", rotation=90)
    put_title(drawn, inside["left"] * size[0], shown.title, context, legend_in)
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
            raise ValueError(ONLY_OVER_TIME)
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
