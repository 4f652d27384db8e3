"""Converts the papers' figures to the report's: they keep their data, and gain zoom, buttons and a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airtcp.facts.numbers import decimals
from airtcp.showing.report.curve import span, thinned
from airtcp.showing.report.figure import Axis, Bars, Dots, Figure, Line, Mark
from airtcp_studies.frame.plots import BarPlot, Curve, Plot, SweepPlot, TimePlot
from airtcp_studies.frame.rows import estimate_of


def labels_of(plot: Plot) -> list[str]:
    """Returns the labels that have a colour of their own."""
    if isinstance(plot, SweepPlot):
        return list(plot.curves)
    if isinstance(plot, TimePlot):
        return list(dict.fromkeys(label for lines in plot.panels.values() for label in lines))
    if isinstance(plot, BarPlot):
        return list(dict.fromkeys(label for bars in plot.groups.values() for label in bars))
    return []


def figure_of(plot: Plot, title: str) -> Figure:
    """`title` is the experiment's, for a figure without one."""
    heading, caption = plot.caption or title, _said(plot)
    if isinstance(plot, SweepPlot):
        return _sweep(plot, heading, caption)
    if isinstance(plot, TimePlot):
        return _time(plot, heading, caption)
    if isinstance(plot, BarPlot):
        return _bars(plot, heading, caption)
    raise TypeError(f"a kind of figure that the report does not support: {type(plot).__name__}")


def _said(plot: Plot) -> str:
    parts = ["Intervals are for the mean over seeds."] if isinstance(plot, SweepPlot | BarPlot) else []
    if isinstance(plot, SweepPlot | BarPlot) and plot.quoted:
        parts.append("Hollow: the paper's values.")
    if isinstance(plot, SweepPlot) and plot.bounds:
        parts.append("Grey: closed forms and bounds.")
    return " ".join(parts)


def _sweep(plot: SweepPlot, title: str, caption: str) -> Figure:
    marks: list[Mark] = [_curve(name, curve, scheme=name) for name, curve in plot.curves.items()]
    marks += [_curve(name, curve, scheme=None) for name, curve in plot.bounds.items()]
    for name, points in plot.quoted.items():
        xs = sorted(points)
        ys = [estimate_of(points[x]).mean for x in xs]
        marks.append(Dots(f"{name}, in the paper", xs, ys, scheme=name, symbol="open", size=11))
    ends = (_ends(name, curve) for name, curve in plot.curves.items())
    return Figure(
        title,
        caption,
        f"{plot.y_label} over {plot.x_label}. {'; '.join(ends)}.",
        Axis(plot.x_label, log=plot.log_x),
        Axis(plot.y_label, log=plot.log_y, from_zero=not plot.log_y),
        marks,
        height=400,
    )


def _curve(name: str, curve: Curve, scheme: str | None) -> Line:
    points = {x: estimate_of(values) for x, values in sorted(curve.items())}
    errors = [found.half_width for found in points.values()]
    return Line(
        name,
        list(points),
        [found.mean for found in points.values()],
        scheme=scheme,
        errors=errors if any(errors) else [],
        dash="" if scheme else "dash",
    )


def _ends(name: str, curve: Curve) -> str:
    means = [estimate_of(values).mean for _, values in sorted(curve.items())]
    return f"{name}: from {_short(means[0])} to {_short(means[-1])}" if means else name


def _time(plot: TimePlot, title: str, caption: str) -> Figure:
    several = len(plot.panels) > 1
    marks = [
        mark
        for panel, lines in plot.panels.items()
        for label, (times, values) in lines.items()
        for mark in _over_time(label, times, values, panel if several else None, label in plot.dots)
    ]
    ranges = (_range(mark, several) for mark in marks)
    return Figure(
        title,
        caption,
        f"{plot.y_label} over time. {'; '.join(ranges)}.",
        Axis(plot.x_label, time=True, from_zero=plot.begin_s is None),
        Axis(plot.y_label, from_zero=plot.begin_s is None),
        marks,
        panels=list(plot.panels) if several else [],
        own_y=not plot.share_y,
        height=150 if several else 380,
    )


def _over_time(
    label: str, times: Sequence[float], values: Sequence[float], panel: str | None, is_dots: bool
) -> Iterator[Mark]:
    if is_dots:
        yield Dots(label, list(times), list(values), scheme=label, panel=panel, size=4)
    else:
        at, short = thinned(times, values)
        yield Line(label, at, short, scheme=label, panel=panel, step=True)


def _range(mark: Mark, several: bool) -> str:
    low, high = span([value for value in mark.y if not isinstance(value, str)])
    name = f"{mark.panel}, {mark.name}" if several else mark.name
    return f"{name} between {_short(low)} and {_short(high)}"


def _bars(plot: BarPlot, title: str, caption: str) -> Figure:
    marks: list[Mark] = []
    for label in labels_of(plot):
        found = {group: estimate_of(bars[label]) for group, bars in plot.groups.items() if label in bars}
        errors = [value.half_width for value in found.values()]
        means = [value.mean for value in found.values()]
        marks.append(
            Bars(label, list(found), means, scheme=label, errors=errors if any(errors) else [], strong=True)
        )
        said = {group: by[label] for group, by in plot.quoted.items() if label in by}
        if said:
            name = f"{label}, in the paper"
            marks.append(Dots(name, list(said), list(said.values()), scheme=label, symbol="quoted", size=10))
    told = (
        f"{mark.name}: {', '.join(_short(y) for y in mark.y if isinstance(y, float | int))}" for mark in marks
    )
    return Figure(
        title,
        caption,
        f"{plot.y_label}, for {', '.join(plot.groups)}. {'; '.join(told)}.",
        Axis("", categories=True),
        Axis(plot.y_label, from_zero=True),
        marks,
    )


def _short(value: float) -> str:
    return f"{value:.{decimals(value)}f}"
