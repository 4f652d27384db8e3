"""Figures as data: marks in axes. The page's script draws them, in the reader's theme and width.

A mark that names a `scheme` has that scheme's colour and symbol, and disappears when its button is released.
A mark that names a `part` belongs to a part of the figure, such as the timeouts, with a button of its own
below the title. A mark that names a `panel` is in the small figure of that name; a panel named after a scheme
disappears with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from airtcp.showing.report.html import Writer, tag

Value = float | str | None
"""A number, a category, or nothing."""
Symbol = Literal[
    "circle", "circle-open", "x-thin", "cross-thin", "square-open", "diamond", "star", "triangle-up-open",
    "triangle-down-open", "line-ns", "line", "dash", "dot", "band",
    "open", "quoted",
]  # fmt: skip
FIGURES = 5
"""Significant figures of drawn values: finer than a screen shows. Positions and times have two more."""


@dataclass(frozen=True)
class Axis:
    """`time`: figures of a page whose x axes are times zoom together."""

    label: str
    log: bool = False
    from_zero: bool = False
    categories: bool = False
    time: bool = False
    end: float | None = None
    """Where the axis ends until the reader zooms; None for the end of the data."""


@dataclass(frozen=True)
class Mark:
    """Properties of all marks."""

    name: str
    x: Sequence[Value]
    y: Sequence[Value]
    scheme: str | None = None
    part: str | None = None
    panel: str | None = None


@dataclass(frozen=True)
class Line(Mark):
    """A curve, with gaps where `y` is None. `step`: a value holds until the next one."""

    step: bool = False
    dash: Literal["", "dash", "dot"] = ""
    """Combined with the scheme's own dash, for a second curve of the same scheme."""
    thin: bool = False
    errors: Sequence[float | None] = ()
    """Half-widths of intervals."""


@dataclass(frozen=True)
class Dots(Mark):
    """Single points. `symbol`: empty for the scheme's own, `open` for that symbol hollow; `quoted`: a mark on
    a bar.

    `notes` are shown where the reader points.
    """

    symbol: Symbol | Literal[""] = ""
    notes: Sequence[str] = ()
    size: float = 7
    all: bool = False
    """Draw all dots, without thinning."""


@dataclass(frozen=True)
class Bars(Mark):
    """Bars from zero; horizontal if `y` has the categories. `errors` are half-widths of intervals."""

    errors: Sequence[float | None] = ()
    horizontal: bool = False
    strong: bool = False
    """Emphasised in colour: the best."""


@dataclass(frozen=True)
class Band(Mark):
    """The area between `y` and `high`. `step`: a value applies to the time since the previous one."""

    high: Sequence[Value] = ()
    step: bool = False


@dataclass(frozen=True)
class Rule(Mark):
    """A straight line across, with its name beside it: one of `x` and `y` has one value, the other none."""


@dataclass(frozen=True)
class Heat(Mark):
    """A value in each cell: `z` has a row for each `y`, and so has `texts`, the texts in the cells.

    With `winners`, a row of schemes for each `y`, a cell has its winner's colour, pale if `unsure`, and `z`
    is shown only as text; a cell without a winner has no colour.
    """

    z: Sequence[Sequence[float | None]] = ()
    z_label: str = ""
    texts: Sequence[Sequence[str]] = ()
    winners: Sequence[Sequence[str]] = ()
    unsure: Sequence[Sequence[bool]] = ()
    ends: tuple[float, ...] = ()
    """The values at both ends of the scale, so that several heats share one; without, the heat's own."""


@dataclass(frozen=True)
class Part:
    """A part of a figure that can be hidden: how it looks, and whether it is visible at first."""

    name: str
    symbol: Symbol | Literal[""] = ""
    shown: bool = True


@dataclass(frozen=True)
class Figure:
    """One figure. `alt` describes it in a sentence or two for readers who cannot see it."""

    title: str
    caption: str
    alt: str
    x: Axis
    y: Axis
    marks: Sequence[Mark]
    parts: Sequence[Part] = ()
    panels: Sequence[str] = ()
    """Small figures side by side with the same axes, in this order; if empty, all marks share one."""
    own_y: bool = False
    """The panels have different y axes."""
    height: int = 380
    """In pixels; the height of a panel if there are panels."""

    def spec(self) -> dict[str, Any]:
        """Returns the input of the page's script."""
        return {
            "title": self.title,
            "x": _short(self.x),
            "y": _short(self.y),
            "panels": list(self.panels),
            "own_y": self.own_y,
            "parts": [_short(part) for part in self.parts],
            "height": self.height,
            "marks": [_mark(mark) for mark in self.marks],
        }

    def render(self, to: Writer) -> str:
        name = to.name(self.title)
        to.add_figure(name, self.spec())
        return _TEMPLATE.format(
            name=name,
            heading=tag(f"h{to.level}", self.title, id=f"{name}-title"),
            parts=tag("div", "", {"class": "parts buttons"}, role="group", aria_label="Layers of this figure")
            if self.parts
            else "",
            plot=tag("div", "", {"class": "plot"}, role="img", aria_label=self.alt),
            caption=tag("figcaption", self.caption),
        )


_TEMPLATE = """<figure class="figure" id="{name}" aria-labelledby="{name}-title">
{heading}
{parts}
<div class="zoom buttons" role="group" aria-label="Zoom"></div>
{plot}
<p class="told" aria-live="polite"></p>
{caption}
<details class="data"><summary>Data</summary></details>
</figure>"""


def _mark(mark: Mark) -> dict[str, Any]:
    return {"kind": type(mark).__name__.lower(), **_short(mark)}


def _short(thing: Any) -> dict[str, Any]:
    """Returns its non-default fields; numbers are as short as a screen can show."""
    found = {field.name: _plain(getattr(thing, field.name), field.name) for field in fields(thing)}
    return {name: value for name, value in found.items() if value not in (None, "", False, [])}


def _plain(value: Any, name: str = "") -> Any:
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, Iterable):
        return [_plain(each, name) for each in value]
    return _rounded(float(value), FIGURES + 2 if name in ("x", "y", "high") else FIGURES)


def _rounded(value: float, figures: int) -> float | int | None:
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{figures}g}")
    return int(short) if short.is_integer() and abs(short) < 2**53 else short
