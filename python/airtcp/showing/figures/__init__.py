"""Figures for a paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, singledispatch
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from airtcp._engine import Scenario
from airtcp.facts.series import NO_SERIES, Series
from airtcp.facts.summary import completion_times_s
from airtcp.results.comparison import Comparison
from airtcp.results.one_run import RunResult
from airtcp.results.shown import Format
from airtcp.results.side_by_side import SideBySide
from airtcp.showing.figures.draw import drawing
from airtcp.showing.figures.style import FORMATS, ON_ANY_GROUND, inline_svg, save, style
from airtcp.showing.figures.sweep import of_sweep
from airtcp.showing.report.figure import Figure as Data
from airtcp.showing.report.over_runs import completion_cdf, goodput_bars, paired_goodputs
from airtcp.showing.report.over_time import figures as over_time
from airtcp.showing.report.over_time import runs_of
from airtcp.sweep.result import SweepResult

__all__ = ["Figures", "draw", "draw_inline", "figures_of", "overlaid", "save_all"]

Figures = Mapping[str, Callable[..., Figure]]
"""Functions that draw figures, by name; the first is the main one. Their options are those of `drawing`."""


@singledispatch
def figures_of(found: object) -> Figures:
    """Returns the figures of a result."""
    raise TypeError(f"{type(found).__name__} has no figures")


@figures_of.register
def _(found: Comparison) -> Figures:
    if not found.runs:
        return {}
    name = found.scenario.name
    figures = {"goodput": _drawn(name, lambda: goodput_bars(found.summaries, found.runs, found.best))}
    if any(completion_times_s(run) for run in found.runs):
        figures["completion"] = _drawn(name, lambda: completion_cdf(found.runs))
    main = found.main_figure
    curves = _of_series(found.scenario, found.first_series, found.scenario.seed)
    return {main: figures[main], **figures, **curves}


@figures_of.register
def _(found: SideBySide) -> Figures:
    if found.agreement is None:
        return {}
    pairs = found.agreement.pairs
    return {"pairs": _drawn(found.sim.scenario.name, lambda: paired_goodputs(pairs))}


@figures_of.register
def _(found: RunResult) -> Figures:
    if found.time_series is None:
        raise ValueError(NO_SERIES)
    return _of_series(found.scenario, {found.scheme: found.time_series}, found.seed)


@figures_of.register
def _(found: SweepResult) -> Figures:
    return of_sweep(found.plan, found.judged)


def overlaid(results: Sequence[object]) -> Figures:
    """Returns figures of runs and comparisons over time, on common axes. Raises ValueError if there are
    none."""
    series: dict[str, Series] = {}
    scenarios = list[Scenario]()
    for place, found in enumerate(results, 1):
        if not isinstance(found, Comparison | RunResult):
            raise ValueError(f"a {type(found).__name__} cannot be drawn beside others: take one of its runs")
        scenarios.append(found.scenario)
        for scheme, of_scheme in _series_of(found).items():
            series[scheme if scheme not in series else f"{scheme} ({place})"] = of_scheme
    longest = max(scenarios, key=lambda scenario: scenario.duration_s)
    return _of_series(longest, series, longest.seed)


def _series_of(found: Comparison | RunResult) -> Mapping[str, Series]:
    if isinstance(found, Comparison):
        return found.first_series
    return {found.scheme: found.time_series} if found.time_series else {}


ORDER = ("cwnd", "queue", "sequence")
"""The figures most often wanted."""


def _of_series(scenario: Scenario, series: Mapping[str, Series], seed: int) -> Figures:
    """Returns the curves of one run of each scheme."""
    runs = runs_of(series, seed, scenario) if series else None
    if runs is None:
        return {}
    made = over_time(runs)
    names = [*(name for name in ORDER if name in made), *(name for name in made if name not in ORDER)]
    of = ", ".join(part for part in (scenario.name, f"seed {seed}") if part)
    return {name: _drawn(of, partial(made[name], runs)) for name in names}


def _drawn(context: str, data: Callable[[], Data]) -> Callable[..., Figure]:
    return lambda **options: drawing(data(), context, **options)


def draw(figures: Figures, name: str | None = None, **options: Any) -> Figure:
    """Draws the named figure, or the main one. Raises ValueError, which lists the available figures."""
    if not figures:
        raise ValueError("nothing to draw: no run has finished, or none that would show in a figure")
    chosen = name or next(iter(figures))
    if chosen not in figures:
        raise ValueError(f"there is no figure `{chosen}`; there are: {', '.join(figures)}")
    with style():
        return figures[chosen](**options)


def draw_inline(figures: Figures) -> str:
    """Returns the main figure as SVG for a page, readable on light and dark backgrounds."""
    with style(ON_ANY_GROUND):
        return inline_svg(next(iter(figures.values()))())


def save_all(figures: Figures, directory: Path, formats: Sequence[Format] = FORMATS) -> list[Path]:
    """Writes each in these formats; returns the paths."""
    with style():
        return [path for name, drawn in figures.items() for path in save(drawn(), directory, name, formats)]
