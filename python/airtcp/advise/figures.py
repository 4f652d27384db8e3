"""Draws the answer: how the candidates rank, and what is best on similar paths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airtcp.advise.advice import Advice, Cell, Row
from airtcp.advise.ranges import Kind, kind, percent_lost, plane, propagation
from airtcp.advise.table import reached_by
from airtcp.facts.stats import Estimate
from airtcp.showing.figures.labels import broken
from airtcp.showing.figures.layout import row_names
from airtcp.showing.figures.style import COLOURS, GREY, WIDTH_IN, figure, save, style

MOST_ROWS = 24
CELLS_SHARE = 0.85
"""Of the width. The axis has the rest."""
SHORT = 12
"""A longer name of the current scheme would not fit into a cell."""
SHADES: dict[Kind, str] = {"same": "#9CC3DD", "now": "#D9D9D9", "open": "#EDEDED", "other": "#F0DDB8"}


def draw_all(advice: Advice, directory: Path) -> list[Path]:
    """Writes every figure that has data, as PNG and SVG, and returns the paths."""
    figures = {}
    with style():
        if advice.rows:
            figures["advice"] = ranking(advice)
        if advice.around and advice.recommendation:
            figures["around"] = around(advice)
        return [path for name, drawn in figures.items() for path in save(drawn, directory, name)]


def ranking(advice: Advice) -> Figure:
    """Draws what each candidate reaches, beside its round trips."""
    rows = advice.rows[:MOST_ROWS]
    names, names_in = row_names([row.name for row in rows], WIDTH_IN, None)
    drawn = figure(0.8 + max(0.19 * len(rows), names_in))
    reached, delays, kept = cast(
        Sequence[Axes], drawn.subplots(1, 3, sharey=True, width_ratios=(3, 1.5, 1.5))
    )
    values, label = reached_by(advice, rows)
    for place, (row, value) in enumerate(zip(rows, values, strict=True)):
        colour = _colour(advice, row)
        reached.barh(place, value.mean, height=0.66, color=colour)
        if value.half_width is not None:
            reached.errorbar(value.mean, place, xerr=value.half_width, color="black", capsize=2, lw=0.8)
        if row.rtt_p95_ms is not None:
            delays.plot([row.rtt_p95_ms], [place], marker="o", ms=4, color=colour)
        if row.share:
            share = row.share.kept.scaled(100)
            kept.errorbar(
                share.mean, place, xerr=share.half_width, marker="o", ms=4, color=colour, capsize=2, lw=0.8
            )
    kept.axvline(100, color=GREY, lw=0.8, ls=(0, (4, 2)))
    reached.set_yticks(range(len(rows)), names.texts)
    reached.invert_yaxis()
    for axes, text in zip(
        (reached, delays, kept), (label, "RTT p95 [ms]", "share CUBIC retains [%]"), strict=True
    ):
        axes.set_xlabel(text)
        axes.set_xlim(left=0)
        axes.margins(x=0.08)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
    delays.autoscale(axis="x")
    delays.set_xlim(left=0)
    kept.autoscale(axis="x")
    kept.set_xlim(left=0)
    return drawn


def around(advice: Advice) -> Figure:
    """Draws what is best where loss and delay differ.

    Blue: the recommendation stays best; grey: the current scheme is as good or in a statistical tie; ochre:
    another one is better.
    """
    losses, factors, by_place = plane(advice.around)
    drawn = figure(0.9 + 0.55 * len(factors))
    axes = drawn.subplots()
    for y, factor in enumerate(factors):
        for x, loss in enumerate(losses):
            _draw_cell(axes, advice, by_place[factor, loss], x, y, CELLS_SHARE * WIDTH_IN / len(losses))
    axes.set_xticks(range(len(losses)), [percent_lost(loss) for loss in losses])
    axes.set_yticks(range(len(factors)), [propagation(advice, factor) for factor in factors])
    axes.set(xlim=(-0.5, len(losses) - 0.5), ylim=(-0.5, len(factors) - 0.5))
    axes.set(xlabel="packet loss of the link; framed: the path itself", ylabel="round-trip\npropagation")
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return drawn


def _draw_cell(axes: Axes, advice: Advice, cell: Cell, x: int, y: int, room_in: float) -> None:
    own = cell == advice.around[0]
    axes.bar(
        x,
        0.94,
        width=0.94,
        bottom=y - 0.47,
        color=SHADES[kind(cell, advice)],
        edgecolor="black" if own else "none",
        lw=1.5,
    )
    tied = f"\n≈ {len(cell.tied)} more" if cell.tied else ""
    ahead = "" if cell.now_behind is None else f"\n{_ahead(advice, cell.now_behind)}"
    best = broken(cell.best, room_in, most_lines=2)
    axes.text(x, y, f"{best}{tied}{ahead}", ha="center", va="center", fontsize=6.5)


def _ahead(advice: Advice, now_behind: Estimate) -> str:
    now = advice.now if len(advice.now) <= SHORT else "now"
    return f"{now} {100 * now_behind.mean:.0f} % behind"


def _colour(advice: Advice, row: Row) -> str:
    if advice.recommendation and row.name == advice.recommendation.use:
        return COLOURS[0]
    if row.name == advice.now:
        return GREY
    return "#9CC3DD" if row.standing != "behind" else "#C9D3DA"
