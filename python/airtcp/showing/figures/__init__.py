"""Figures that one would put into a paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from airtcp.figures.bars import goodput_bars, paired_bars
from airtcp.figures.completion import completion_curves
from airtcp.figures.curves import cwnd_curves, is_one_connection, queue_curves, sequence_curves
from airtcp.figures.style import ON_ANY_GROUND, inline_svg, save, style
from airtcp.series import Series
from airtcp.summary import completion_times_s

if TYPE_CHECKING:
    from airtcp.comparison import Comparison
    from airtcp.side_by_side import SideBySide

__all__ = ["Figures", "draw", "draw_inline", "of_both", "of_comparison", "of_series", "save_all"]

Figures = Mapping[str, Callable[[], Figure]]
"""What can be drawn, by name."""


def of_comparison(found: Comparison) -> Figures:
    if not found.runs:
        return {}
    figures = {"goodput": lambda: goodput_bars(found.summaries, found.runs, found.best)}
    if any(completion_times_s(run) for run in found.runs):
        figures["completion"] = lambda: completion_curves(found.runs)
    return {**figures, **(of_series(found.first_series) if found.first_series else {})}


def of_both(found: SideBySide) -> Figures:
    """The schemes that have run in the simulator and on the kernel."""
    if found.agreement is None:
        return {}
    pairs = found.agreement.pairs
    return {"pairs": lambda: paired_bars(pairs)}


def of_series(series: Mapping[str, Series]) -> Figures:
    """The curves of one run of each scheme."""
    figures = {"cwnd": lambda: cwnd_curves(series), "queue": lambda: queue_curves(series)}
    flows = [flow for found in series.values() for flow in found.flows.partition_by("flow")]
    if all(is_one_connection(flow) for flow in flows):
        figures["sequence"] = lambda: sequence_curves(series)
    return figures


def draw(figures: Figures, name: str) -> Figure:
    """Raises ValueError, which lists the figures that there are."""
    if name not in figures:
        raise ValueError(f"there is no figure `{name}`; there are: {', '.join(figures)}")
    with style():
        return figures[name]()


def draw_inline(figures: Figures, name: str) -> str:
    """As SVG for a page, readable on light and on dark ground."""
    with style(ON_ANY_GROUND):
        return inline_svg(figures[name]())


def save_all(figures: Figures, directory: Path) -> list[Path]:
    """Writes each as PNG and SVG; answers where they are."""
    with style():
        return [path for name, drawn in figures.items() for path in save(drawn(), directory, name)]
