"""Maps over two keys: the best scheme, and what each scheme reaches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from airtcp.facts.units import rate_scale
from airtcp.showing.figures.canvas import Canvas
from airtcp.showing.figures.labels import LINE_IN, broken, lines_of
from airtcp.showing.figures.style import WIDTH_IN
from airtcp.showing.palette import looks
from airtcp.sweep.panels import Panel, shown, values_of
from airtcp.sweep.plan import Plan
from airtcp.sweep.summary import GOODPUT, Judged, Summary

FULL_MARGIN = 0.5
"""Lead of the best scheme from which its cell has full colour."""
HATCH = "////"
MAX_TEXTS = 14
"""Cells across up to which margins are readable."""
CELL_IN = 0.26
TITLES_SHARE = 0.75
"""Of the width. Tick labels and the scale have the rest."""
Rgb = tuple[float, float, float]


def best_maps(plan: Plan, summary: Summary, maps: Sequence[Panel], canvas: Canvas) -> Figure:
    """Colours each cell by its best scheme, darker with a larger lead; hatched if the lead is not clear."""
    drawn, grid = _panels(plan, [panel.title for panel in maps], canvas)
    colours = _colours(plan, summary, canvas)
    for axes, panel in zip(grid, maps, strict=True):
        texts = len(panel.points[0]) * _columns(len(maps)) <= MAX_TEXTS
        for y, row in enumerate(panel.points):
            for x, number in enumerate(row):
                judged = summary.judged.get(number)
                if judged and judged.best in colours:
                    _cell(axes, x, y, judged, colours, texts)
    labels = canvas.labels(drawn, [*colours, "not clearly ahead"])
    unsure = Patch(facecolor="white", edgecolor="#555555", hatch=HATCH, lw=0.4)
    handles = [*(Patch(facecolor=colour) for colour in colours.values()), unsure]
    title = f"best {summary.goal.name}"
    drawn.legend(handles, labels.texts, fontsize=labels.font_pt, loc="outside right upper", title=title)
    said = f"darker: larger lead over the next, up to {FULL_MARGIN:.0%}"
    drawn.suptitle(said, fontsize=7, x=0.01, ha="left", color="#555555")
    return drawn


def value_maps(plan: Plan, summary: Summary, panel: Panel, canvas: Canvas) -> Figure:
    """Draws what each scheme reaches, all on one scale."""
    values = {key: found.mean for key, found in summary.estimates.items()}
    scale, unit = rate_scale(list(values.values())) if summary.goal == GOODPUT else (1.0, "s")
    schemes = [scheme for scheme in plan.schemes if canvas.shows(scheme)]
    drawn, grid = _panels(plan, schemes, canvas)
    highest = max(values.values(), default=0.0) / scale or 1.0
    image = None
    for axes, scheme in zip(grid, schemes, strict=True):
        rows = [[values.get((number, scheme), math.nan) / scale for number in row] for row in panel.points]
        image = axes.imshow(rows, origin="lower", aspect="auto", cmap="viridis", vmin=0, vmax=highest)
    if image is not None:
        drawn.colorbar(image, ax=grid, label=f"{summary.goal.name} [{unit}]", fraction=0.05)
    return drawn


def _colours(plan: Plan, summary: Summary, canvas: Canvas) -> dict[str, str]:
    """Returns the colours of the shown schemes that are best somewhere."""
    leaders = {judged.best for judged in summary.judged.values() if canvas.shows(judged.best)}
    return {scheme: look.colour for scheme, look in looks(plan.schemes).items() if scheme in leaders}


def _cell(axes: Axes, x: int, y: int, judged: Judged, colours: Mapping[str, str], texts: bool) -> None:
    margin = judged.margin.mean if judged.margin else 0.0
    tie = bool(judged.tied)
    strength = 0.25 if tie else 0.35 + 0.65 * min(margin / FULL_MARGIN, 1.0)
    face = _blend(to_rgb(colours[judged.best]), strength)
    edge = "#777777" if tie else "white"
    patch = Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=face, edgecolor=edge, lw=0.4)
    patch.set_hatch(HATCH if tie else "")
    axes.add_patch(patch)
    if texts and judged.margin:
        ink = "white" if sum(face) < 1.6 else "black"
        said = f"+{100 * margin:.0f} %{' ?' * tie}"
        axes.text(x, y, said, ha="center", va="center", fontsize=6, color=ink)


def _blend(colour: Rgb, strength: float) -> Rgb:
    red, green, blue = (1 - strength * (1 - part) for part in colour)
    return red, green, blue


def _columns(count: int) -> int:
    return 1 if count == 1 else 2 if count <= 4 else 3


def _panels(plan: Plan, titles: Sequence[str], canvas: Canvas) -> tuple[Figure, list[Axes]]:
    """Returns axes with a cell for each pair of values, and the values' texts as ticks."""
    across, up = values_of(plan, 0), values_of(plan, 1)
    columns = _columns(len(titles))
    rows = -(-len(titles) // columns)
    panel_in = min(max(CELL_IN * len(up), 1.1), WIDTH_IN * 0.6)
    width = canvas.size[0] if canvas.size else WIDTH_IN
    shown_titles = [broken(title, TITLES_SHARE * width / columns, bold=True) for title in titles]
    title_in = 0.25 + LINE_IN * (max(map(lines_of, shown_titles), default=1) - 1)
    drawn = canvas.whole(0.8 + rows * (panel_in + title_in))
    grid = list(drawn.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)
    for axes, title in zip(grid, shown_titles, strict=False):
        axes.set_title(title, loc="left", pad=3, fontweight="bold", fontsize=7)
        axes.grid(visible=False)
        axes.tick_params(length=0)
        axes.set(xlim=(-0.5, len(across) - 0.5), ylim=(-0.5, len(up) - 0.5))
    for place, spare in enumerate(grid[len(titles) :], len(titles)):
        spare.set_visible(False)
        grid[place - columns].tick_params(labelbottom=True)
    for values, axis, name in ((across, plan.axes[0], "x"), (up, plan.axes[1], "y")):
        step = max(1, len(values) * (columns if name == "x" else 1) // 12)
        ticks = range(0, len(values), step)
        labels = [shown(axis, values[tick]) for tick in ticks]
        if name == "x":
            grid[0].set_xticks(ticks, labels)
            for axes in grid:
                axes.tick_params(axis="x", labelrotation=45 if max(map(len, labels)) > 4 else 0)
        else:
            grid[0].set_yticks(ticks, labels)
    drawn.supxlabel(plan.axes[0].label, fontsize=8)
    drawn.supylabel(plan.axes[1].label, fontsize=8)
    return drawn, grid[: len(titles)]
