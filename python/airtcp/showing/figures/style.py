"""The style of all figures: sober, readable at a column's width, safe for colour-blind readers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator, StrMethodFormatter

from airtcp.results.shown import Format
from airtcp.showing import palette

WIDTH_IN = 6.8
"""Text width of a two-column paper."""
CSS_PX_PER_IN = 96
FORMATS: tuple[Format, ...] = ("png", "svg")
SCREEN_DPI = 160
"""Sharp on most screens, and still small."""

COLOURS = palette.LIGHT
DASH_OF: dict[palette.Dash, Any] = {
    "solid": "-",
    "longdash": (0, (5, 1.5)),
    "dot": (0, (1.5, 1)),
    "dashdot": (0, (5, 1.5, 1.5, 1.5)),
}
DASHES: tuple[Any, ...] = tuple(DASH_OF[name] for name in palette.DASHES)
MARK_OF = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-down": "v",
    "triangle-up": "^",
    "pentagon": "p",
    "cross": "P",
}
MARKERS = "".join(MARK_OF[name] for name in palette.MARKS)
GREY = "#555555"
FEW_DECADES = 300.0
"""Largest ratio of an axis's ends with ticks at 2 and 5."""
INK = "#010203"
"""Placeholder for the colour of the text around a figure on a page. No palette has it."""

_RC: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.xmargin": 0.0,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.0,
    "legend.frameon": False,
    "svg.hashsalt": "airtcp",
    "svg.fonttype": "none",
    "savefig.dpi": 220,
    "pdf.fonttype": 42,
}


ON_ANY_GROUND: dict[str, Any] = {
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "grid.color": "#80808040",
}


@contextmanager
def style(changes: Mapping[str, Any] | None = None) -> Iterator[None]:
    settings: Any = {**_RC, **(changes or {})}
    with mpl.rc_context(settings):
        yield


def line_style(look: palette.Look) -> dict[str, Any]:
    """Returns the colour and dashes of a scheme."""
    return {"color": look.colour, "linestyle": DASH_OF[look.dash]}


class Drawing(Figure):
    """A figure that a notebook shows even if pyplot is not loaded."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        data = BytesIO()
        with style():
            self.savefig(data, format="png", dpi=SCREEN_DPI, metadata={"Software": None})
        width, height = (round(CSS_PX_PER_IN * size) for size in self.get_size_inches())
        return data.getvalue(), {"width": width, "height": height}


def figure(size: float | tuple[float, float]) -> Figure:
    """Returns a figure of this height, or size, that Matplotlib lays out, at the cost of drawing it twice."""
    whole = size if isinstance(size, tuple) else (WIDTH_IN, size)
    return Drawing(figsize=whole, layout="constrained")


def blank(width_in: float, height_in: float) -> Figure:
    """Returns a figure whose axes the caller places."""
    return Drawing(figsize=(width_in, height_in))


def mixed(colour: str, share: float) -> str:
    """Mixes `share` of the colour with white."""
    parts = (round(int(colour[place : place + 2], 16) * share + 255 * (1 - share)) for place in (1, 3, 5))
    return "#" + "".join(f"{part:02X}" for part in parts)


def plain_ticks(axes: Axes) -> None:
    """Writes moderate numbers on logarithmic axes plainly: 100 and not 10²."""
    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        if axis.get_scale() == "log" and low > 1e-3 and high < 1e5:
            axis.set_major_formatter(StrMethodFormatter("{x:g}"))
            if high < FEW_DECADES * low:
                axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
                axis.set_minor_locator(NullLocator())
            axis.set_minor_formatter(NullFormatter())


def small_multiples(
    names: Sequence[str],
    x_label: str,
    y_label: str,
    *,
    share_y: bool = True,
    panel_in: float = 1.05,
) -> tuple[Figure, list[Axes]]:
    """Returns a panel per name, with shared axes, in two columns if there are more than three.

    `panel_in` is the height of one.
    """
    columns = 1 if len(names) <= 3 else 2
    rows = -(-len(names) // columns)
    drawn = figure(0.6 + panel_in * rows)
    grid = drawn.subplots(rows, columns, sharex=True, sharey=share_y, squeeze=False)
    panels: list[Axes] = list(grid.flat)
    for panel, name in zip(panels, names, strict=False):
        panel.set_title(name, loc="left", pad=3, fontweight="bold")
    for spare in panels[len(names) :]:
        spare.set_visible(False)
        # The panel above a gap has the labels of the time axis.
        panels[panels.index(spare) - columns].tick_params(labelbottom=True)
    drawn.supxlabel(x_label, fontsize=8)
    drawn.supylabel(y_label, fontsize=8)
    return drawn, panels[: len(names)]


def inline_svg(drawn: Figure) -> str:
    """Returns an SVG element for a page, in the colour of the surrounding text; drawn `ON_ANY_GROUND`."""
    text = StringIO()
    drawn.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    _, opening, rest = text.getvalue().partition("<svg")
    # A style sheet would apply to the whole page.
    rest = re.sub(r"<style.*?</style>", "", rest, flags=re.DOTALL)
    rest = re.sub(f"{INK}|#000000", "currentColor", rest).replace(GREY, "#888888")
    return f'{opening} style="max-width:100%;height:auto;stroke-linejoin:round" fill="currentColor"{rest}'


def save(drawn: Figure, directory: Path, name: str, formats: Sequence[Format] = FORMATS) -> list[Path]:
    """Saves in these formats, laid out once; the same figure gives the same bytes."""
    if engine := drawn.get_layout_engine():
        engine.execute(drawn)
        # Otherwise each file would be laid out and drawn again.
        drawn.set_layout_engine(None)
    # `savefig` would draw everything twice.
    savers = {"png": _png, "svg": save_svg, "pdf": _pdf}
    return [savers[kind](drawn, directory, name) for kind in formats]


def save_svg(drawn: Figure, directory: Path, name: str) -> Path:
    if drawn.get_layout_engine():
        drawn.draw_without_rendering()
    path = directory / f"{name}.svg"
    canvas: Any = FigureCanvasSVG(drawn)
    canvas.print_svg(path, metadata={"Date": None, "Creator": None})
    return path


def _png(drawn: Figure, directory: Path, name: str) -> Path:
    path, dpi = directory / f"{name}.png", drawn.dpi
    drawn.set_dpi(SCREEN_DPI)
    canvas: Any = FigureCanvasAgg(drawn)
    canvas.print_png(path, metadata={"Software": None}, pil_kwargs={"compress_level": 4})
    drawn.set_dpi(dpi)
    return path


def _pdf(drawn: Figure, directory: Path, name: str) -> Path:
    from matplotlib.backends.backend_pdf import FigureCanvasPdf  # noqa: PLC0415 its fonts take long to load

    path = directory / f"{name}.pdf"
    canvas: Any = FigureCanvasPdf(drawn)
    canvas.print_pdf(path, metadata={"CreationDate": None, "Creator": None, "Producer": None})
    return path
