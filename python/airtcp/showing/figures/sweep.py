"""Figures of the best scheme against what varies: curves over one key, maps over two, all keys over more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from airtcp.facts.stats import CONFIDENCE, Estimate
from airtcp.facts.units import rate_scale
from airtcp.showing.figures.canvas import Canvas, legend_beside
from airtcp.showing.figures.draw import ONLY_OVER_TIME, no_scheme
from airtcp.showing.figures.layout import Size
from airtcp.showing.figures.style import GREY, line_style, plain_ticks
from airtcp.showing.figures.sweep_maps import best_maps, value_maps
from airtcp.showing.figures.sweep_overview import overview, scatter
from airtcp.showing.palette import looks
from airtcp.sweep.panels import panels, values_of
from airtcp.sweep.plan import Axis, Plan
from airtcp.sweep.summary import GOODPUT, Summary


def of_sweep(plan: Plan, summary: Summary) -> Mapping[str, Callable[..., Figure]]:
    """Returns the figures that suit the sweep, by name, the most informative first."""
    if len(plan.axes) == 1:
        return {"curves": _drawn(plan, partial(curves, plan, summary))}
    maps = panels(plan)
    if maps:
        found = {"best": _drawn(plan, partial(best_maps, plan, summary, maps))}
        if len(maps) == 1:
            found["schemes"] = _drawn(plan, partial(value_maps, plan, summary, maps[0]))
        return found
    if len(plan.axes) == 2 and all(axis.is_number for axis in plan.axes):
        return {"best": _drawn(plan, partial(scatter, plan, summary))}
    return {"overview": _drawn(plan, partial(overview, plan, summary))}


def _drawn(plan: Plan, draw: Callable[[Canvas], Figure]) -> Callable[..., Figure]:
    """Returns the function with the options of every figure."""

    def drawn(
        *,
        schemes: Sequence[str] | None = None,
        time: tuple[float, float] | None = None,
        size: Size | None = None,
        axes: Axes | None = None,
    ) -> Figure:
        if time is not None:
            raise ValueError(ONLY_OVER_TIME)
        if missing := [scheme for scheme in schemes or () if scheme not in plan.schemes]:
            raise ValueError(no_scheme(missing[0], plan.schemes))
        return draw(Canvas(size, axes, schemes))

    return drawn


def curves(plan: Plan, summary: Summary, canvas: Canvas) -> Figure:
    """Draws a line with its interval per scheme over the only key; dots if its values are names."""
    (axis,) = plan.axes
    drawn, axes = canvas.single(3.2)
    places = _places(plan, axis)
    ordered = sorted(plan.points, key=lambda point: places[point.values[0].text])
    scale, unit = _unit(summary)
    last = {}
    own = looks(plan.schemes)
    for number, scheme in enumerate(plan.schemes):
        if not canvas.shows(scheme):
            continue
        known = [point for point in ordered if (point.number, scheme) in summary.estimates]
        x = [places[point.values[0].text] for point in known]
        found = [summary.estimates[point.number, scheme].scaled(1 / scale) for point in known]
        if axis.is_number:
            _line(axes, x, found, scheme, line_style(own[scheme]))
        else:
            beside = 0.5 * (number / max(len(plan.schemes) - 1, 1) - 0.5)
            _dots(axes, [place + beside for place in x], found, scheme, own[scheme].colour)
        last[scheme] = found[-1].mean if found else 0.0
    if summary.goal == GOODPUT:
        bounds = [summary.bound_bps.get(point.number, 0.0) / scale for point in ordered]
        x = [places[point.values[0].text] for point in ordered]
        axes.plot(x, bounds, color=GREY, lw=0.8, ls=(0, (4, 2)), label="bound")
        last["bound"] = bounds[-1]
    _x_axis(axes, axis, places)
    seeds = f", mean of {len(plan.seeds)} runs, {CONFIDENCE:.0%} interval" if len(plan.seeds) > 1 else ""
    axes.set(xlabel=axis.label, ylabel=f"{summary.goal.name} [{unit}]{seeds}", ylim=(0, None))
    legend_beside(axes, sorted(last, key=lambda name: -last[name]), canvas)
    return drawn


def _line(axes: Axes, x: list[float], found: list[Estimate], scheme: str, look: dict[str, Any]) -> None:
    axes.plot(x, [each.mean for each in found], label=scheme, marker=".", markersize=3, **look)
    low, high = ([getattr(each, side) or each.mean for each in found] for side in ("low", "high"))
    axes.fill_between(x, low, high, color=look["color"], alpha=0.18, lw=0)


def _dots(axes: Axes, x: list[float], found: list[Estimate], scheme: str, colour: str) -> None:
    half_widths = [each.half_width or 0.0 for each in found]
    axes.errorbar(
        x, [each.mean for each in found], half_widths, fmt=".", color=colour, capsize=2, lw=0.9, label=scheme
    )


def _unit(summary: Summary) -> tuple[float, str]:
    if summary.goal != GOODPUT:
        return 1.0, "s"
    return rate_scale([*summary.bound_bps.values(), *(each.mean for each in summary.estimates.values())])


def _places(plan: Plan, axis: Axis) -> dict[str, float]:
    """Returns the positions of the values: their numbers, or their order."""
    values = values_of(plan, 0)
    if axis.unit and (not axis.logarithmic or all((value.number or 0) > 0 for value in values)):
        return {value.text: (value.number or 0.0) / axis.unit.size for value in values}
    return {value.text: float(place) for place, value in enumerate(values)}


def _x_axis(axes: Axes, axis: Axis, places: dict[str, float]) -> None:
    listed = not axis.is_number or (axis.logarithmic and min(places.values()) <= 0)
    if listed:
        axes.set_xticks(list(places.values()), list(places))
        axes.set_xlim(-0.3, len(places) - 0.7)
    elif axis.logarithmic:
        axes.set_xscale("log")
        plain_ticks(axes)
        if len(places) <= 6:
            axes.set_xticks(list(places.values()), [f"{value:.3g}" for value in places.values()])
            axes.xaxis.set_minor_locator(NullLocator())
