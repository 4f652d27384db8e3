"""Draws the marks of a figure with Matplotlib."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import Normal, Stroke

from airtcp.showing.figures.style import DASH_OF, GREY, MARK_OF, mixed
from airtcp.showing.palette import Look
from airtcp.showing.report.curve import thinned
from airtcp.showing.report.figure import Band, Bars, Dots, Figure, Line, Mark, Part, Rule, Value

SYMBOLS = {
    **MARK_OF,
    "x-thin": "x",
    "cross-thin": "+",
    "star": "*",
    "line-ns": "|",
    "line": "_",
    "quoted": "d",
}
MOST_DOTS = 250
"""Limit per mark: more dots would only be ink."""
MOST_POINTS = 900
"""Limit per curve: at 220 dpi a panel in two columns is narrower."""
PT_PER_PX = 0.55
SECOND = "#333333"
"""Colour of a second curve in a panel, such as ssthresh, which would be lost in the first one's colour."""

Places = Mapping[str, int]
"""Positions of categories on their axis."""


def draw_mark(axes: Axes, mark: Mark, own: Mapping[str, Look], places: Places) -> None:
    look = own.get(mark.scheme or "")
    if isinstance(mark, Line):
        _line(axes, mark, look)
    elif isinstance(mark, Dots):
        _dots(axes, mark, look, places)
    elif isinstance(mark, Bars):
        _bars(axes, mark, look, places)
    elif isinstance(mark, Band):
        step: Any = "pre" if mark.step else None
        x, low = _thinned(mark.x, mark.y, by=min)
        _, high = _thinned(mark.x, mark.high, by=max)
        axes.fill_between(x, low, high, step=step, color=_colour(look), alpha=0.3, lw=0)
    elif isinstance(mark, Rule):
        _rule(axes, mark)


def legend_of(shown: Figure, own: Mapping[str, Look]) -> tuple[list[Any], list[str]]:
    """Returns the legend: schemes that neither panels nor an axis name, and parts that differ visibly."""
    named = bool(shown.panels) or shown.y.categories or shown.x.categories
    schemes = [] if named else list(dict.fromkeys(mark.scheme for mark in shown.marks if mark.scheme))
    drawn = {mark.part for mark in shown.marks}
    parts = [part for part in shown.parts if part.name in drawn and part.symbol]
    others = [mark for mark in shown.marks if isinstance(mark, Line) and mark.scheme is None]
    handles = [
        *(Line2D([], [], color=own[scheme].colour, ls=DASH_OF[own[scheme].dash]) for scheme in schemes),
        *(Line2D([], [], color=GREY, ls=_dash(mark)) for mark in others),
        *(_part(part) for part in parts),
    ]
    return handles, [*schemes, *(mark.name for mark in others), *(part.name for part in parts)]


def _part(part: Part) -> Any:
    if part.symbol == "band":
        return Patch(color=GREY, alpha=0.3, lw=0)
    if part.symbol in ("line", "dash", "dot"):
        return Line2D([], [], color=GREY, ls={"line": "-", "dash": (0, (3, 2)), "dot": ":"}[part.symbol])
    return Line2D([], [], ls="", ms=4, **_symbol(part.symbol, GREY))


def _line(axes: Axes, mark: Line, look: Look | None) -> None:
    colour = _colour(look)
    style: dict[str, Any] = {
        "color": SECOND if mark.panel and mark.dash else colour,
        "lw": 0.8 if mark.thin else 1.0,
        "zorder": 3 if mark.dash else 2,
        "ls": _dash(mark) if mark.dash or look is None else DASH_OF[look.dash],
        "drawstyle": "steps-post" if mark.step else "default",
    }
    # The panel names the scheme; its dashes would only hide short peaks.
    if mark.panel and not mark.dash:
        style["ls"] = "-"
    axes.plot(*_thinned(mark.x, mark.y), **style)
    if mark.errors:
        axes.errorbar(
            _numbers(mark.x), _numbers(mark.y), _numbers(mark.errors), fmt="none", ecolor=colour, lw=0.8
        )


def _dots(axes: Axes, mark: Dots, look: Look | None, places: Places) -> None:
    colour = "black" if mark.symbol == "quoted" else _colour(look)
    symbol = mark.symbol or (look.mark if look else "circle")
    if symbol == "open" and look:
        symbol = f"{look.mark}-open"
    each = max(1, -(-len(mark.x) // MOST_DOTS)) if not mark.all else 1
    x, y = (_placed(values, places)[::each] for values in (mark.x, mark.y))
    axes.plot(x, y, ls="", ms=PT_PER_PX * mark.size, mew=0.7, zorder=3, **_symbol(symbol, colour))


def _bars(axes: Axes, mark: Bars, look: Look | None, places: Places) -> None:
    colour = _colour(look)
    face = mixed(colour, 0.8 if mark.strong else 0.35)
    x, y = _placed(mark.x, places), _placed(mark.y, places)
    draw, at, values = (axes.barh, y, x) if mark.horizontal else (axes.bar, x, y)
    draw(at, values, 0.62, color=face, edgecolor=colour, lw=0.8)
    if mark.errors:
        # The white outline makes it visible on the darkest bar.
        casing = [Stroke(linewidth=2.6, foreground="white"), Normal()]
        errors: Any = {"xerr" if mark.horizontal else "yerr": _numbers(mark.errors)}
        style: Any = {"fmt": "none", "ecolor": "black", "lw": 1.0, "capsize": 2.5, "zorder": 4}
        found: Any = axes.errorbar(x, y, **errors, **style)
        for part in (*found.lines[1], *found.lines[2]):
            part.set_path_effects(casing)


def _rule(axes: Axes, mark: Rule) -> None:
    style: dict[str, Any] = {"color": GREY, "lw": 0.9, "ls": (0, (4, 2))}
    upright = bool(mark.x)
    (value,) = _numbers(mark.x or mark.y)
    if upright:
        axes.axvline(value, **style)
    else:
        axes.axhline(value, **style)
    axes.annotate(
        mark.name,
        (value, 1.0) if upright else (1.0, value),
        xycoords=("data", "axes fraction") if upright else ("axes fraction", "data"),
        xytext=(-2, 3) if upright else (-2, 2),
        textcoords="offset points",
        ha="right",
        color=GREY,
    )


def _dash(mark: Line) -> Any:
    return {"": "-", "dash": (0, (3, 2)), "dot": (0, (1, 1.5))}[mark.dash]


def _symbol(symbol: str, colour: str) -> dict[str, Any]:
    hollow = symbol.endswith("-open") or symbol == "quoted"
    marker = SYMBOLS[symbol.removesuffix("-open")]
    thin = marker in "x+|_"
    return {
        "marker": marker,
        "color": colour,
        "mfc": "none" if hollow else colour,
        "mec": colour if hollow or thin else mixed(colour, 0.75),
    }


def _colour(look: Look | None) -> str:
    return look.colour if look else GREY


def _numbers(values: Sequence[Value]) -> list[float]:
    return [math.nan if value is None else float(value) for value in values]


def _thinned(
    x: Sequence[Value], y: Sequence[Value], by: Callable[[list[float]], float] | None = None
) -> tuple[list[float], list[float]]:
    """Returns no more points than print shows; gaps remain."""
    known = [None if math.isnan(value) else value for value in _numbers(y)]
    at, values = thinned(_numbers(x), known, by=by, most=MOST_POINTS)
    return at, _numbers(values)


def _placed(values: Sequence[Value], places: Places) -> list[float]:
    """Returns numbers unchanged, and categories as positions."""
    known = [places[value] if isinstance(value, str) else value for value in values]
    return [math.nan if value is None else float(value) for value in known]
