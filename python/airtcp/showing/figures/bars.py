"""What each scheme reaches: bars with intervals, and the bound."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from matplotlib.figure import Figure

from airtcp.facts.agreement import Pair
from airtcp.facts.records import Run
from airtcp.facts.stats import CONFIDENCE
from airtcp.facts.summary import SchemeSummary
from airtcp.facts.units import rate_scale
from airtcp.showing.figures.style import COLOURS, figure, legend_beside


def goodput_bars(summaries: Sequence[SchemeSummary], runs: Sequence[Run], best: Sequence[str]) -> Figure:
    """Goodput of each scheme; those called `best` are filled darker."""
    drawn = figure(0.75 + 0.3 * len(summaries))
    axes = drawn.subplots()
    bound = _bound_bps(runs)
    scale, unit = rate_scale([bound or 0.0, *(row.goodput.mean for row in summaries)])
    for place, row in enumerate(summaries):
        face = COLOURS[0] if row.scheme in best else "#9CC3DD"
        axes.barh(place, row.goodput.mean / scale, height=0.62, color=face)
        if row.goodput.half_width is not None:
            half_width = row.goodput.half_width / scale
            axes.errorbar(
                row.goodput.mean / scale, place, xerr=half_width, color="black", capsize=2.5, lw=0.9
            )
    if bound:
        axes.axvline(bound / scale, color=COLOURS[1], lw=1, ls=(0, (4, 2)))
        axes.annotate(
            "bound (1 − PER)·rate",
            (bound / scale, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(-2, 3),
            textcoords="offset points",
            ha="right",
            color=COLOURS[1],
        )
    axes.set_yticks(range(len(summaries)), [row.scheme for row in summaries])
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlim(left=0, right=1.04 * _right(summaries, bound) / scale)
    axes.set_xlabel(f"goodput [{unit}]{_statistics(summaries)}")
    return drawn


def paired_bars(pairs: Sequence[Pair]) -> Figure:
    """Goodput of each scheme on the kernel, and what the simulator has, as a diamond."""
    drawn = figure(0.75 + 0.3 * len(pairs))
    axes = drawn.subplots()
    both = [row for pair in pairs for row in (pair.linux, pair.sim)]
    scale, unit = rate_scale([row.goodput.mean for row in both])
    for place, pair in enumerate(pairs):
        kernel, simulated = pair.linux.goodput.scaled(1 / scale), pair.sim.goodput.scaled(1 / scale)
        axes.barh(place, kernel.mean, height=0.62, color="#9CC3DD", label="" if place else "Linux")
        axes.errorbar(kernel.mean, place + 0.12, xerr=kernel.half_width, color="black", capsize=2.5, lw=0.9)
        axes.errorbar(
            simulated.mean,
            place - 0.12,
            xerr=simulated.half_width,
            color=COLOURS[1],
            marker="D",
            ms=4.5,
            lw=0.9,
            capsize=2.5,
            ls="none",
            label="" if place else "simulator",
        )
    axes.set_yticks(range(len(pairs)), [pair.scheme for pair in pairs])
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlim(left=0, right=1.04 * _right(both, None) / scale)
    axes.set_xlabel(f"goodput [{unit}]{_statistics(both)}")
    legend_beside(axes, ["Linux", "simulator"])
    return drawn


def _bound_bps(runs: Sequence[Run]) -> float | None:
    """The mean over runs: on a capacity trace the bound depends on the seed's losses."""
    bounds = [run["bound_bps"] for run in runs if run["bound_bps"]]
    return fmean(bounds) if bounds else None


def _right(summaries: Sequence[SchemeSummary], bound: float | None) -> float:
    highs = [row.goodput.high or row.goodput.mean for row in summaries]
    return max([bound or 0.0, *highs]) or 1.0


def _statistics(summaries: Sequence[SchemeSummary]) -> str:
    runs = min(row.goodput.n for row in summaries)
    return f", mean of {runs} runs, {CONFIDENCE:.0%} interval" if runs > 1 else ""
