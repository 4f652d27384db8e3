"""Figures that one would put into a paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, singledispatch
from pathlib import Path

from matplotlib.figure import Figure

from airtcp.facts.series import NO_SERIES, Series
from airtcp.facts.summary import completion_times_s
from airtcp.results.comparison import Comparison
from airtcp.results.one_run import RunResult
from airtcp.results.side_by_side import SideBySide
from airtcp.showing.figures.bars import goodput_bars, paired_bars
from airtcp.showing.figures.completion import completion_curves
from airtcp.showing.figures.curves import cwnd_curves, is_one_connection, queue_curves, sequence_curves
from airtcp.showing.figures.style import ON_ANY_GROUND, inline_svg, save, style
from airtcp.showing.figures.sweep import of_sweep
from airtcp.sweep.result import SweepResult

__all__ = ["Figures", "draw", "draw_inline", "figures_of", "save_all"]

Figures = Mapping[str, Callable[[], Figure]]
"""What can be drawn, by name; the first is the main one."""


@singledispatch
def figures_of(found: object) -> Figures:
    """The figures of a result."""
    raise TypeError(f"{type(found).__name__} has no figures")


@figures_of.register
def _(found: Comparison) -> Figures:
    if not found.runs:
        return {}
    figures: dict[str, Callable[[], Figure]] = {
        "goodput": partial(goodput_bars, found.summaries, found.runs, found.best)
    }
    if any(completion_times_s(run) for run in found.runs):
        figures["completion"] = partial(completion_curves, found.runs)
    main = found.main_figure
    curves = _of_series(found.first_series) if found.first_series else {}
    return {main: figures[main], **figures, **curves}


@figures_of.register
def _(found: SideBySide) -> Figures:
    if found.agreement is None:
        return {}
    return {"pairs": partial(paired_bars, found.agreement.pairs)}


@figures_of.register
def _(found: RunResult) -> Figures:
    if found.time_series is None:
        raise ValueError(NO_SERIES)
    return _of_series({found.scheme: found.time_series})


@figures_of.register
def _(found: SweepResult) -> Figures:
    return of_sweep(found.plan, found.judged)


def _of_series(series: Mapping[str, Series]) -> Figures:
    """The curves of one run of each scheme."""
    figures = {"cwnd": partial(cwnd_curves, series), "queue": partial(queue_curves, series)}
    flows = [flow for found in series.values() for flow in found.flows.partition_by("flow")]
    if all(is_one_connection(flow) for flow in flows):
        figures["sequence"] = partial(sequence_curves, series)
    return figures


def draw(figures: Figures, name: str | None = None) -> Figure:
    """Without a name, the main one. Raises ValueError, which lists the figures that there are."""
    chosen = name or next(iter(figures), "")
    if chosen not in figures:
        raise ValueError(f"there is no figure `{chosen}`; there are: {', '.join(figures)}")
    with style():
        return figures[chosen]()


def draw_inline(figures: Figures) -> str:
    """The main one as SVG for a page, readable on light and on dark ground."""
    with style(ON_ANY_GROUND):
        return inline_svg(next(iter(figures.values()))())


def save_all(figures: Figures, directory: Path) -> list[Path]:
    """Writes each as PNG and SVG; answers where they are."""
    with style():
        return [path for name, drawn in figures.items() for path in save(drawn(), directory, name)]
