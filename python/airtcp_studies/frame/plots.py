"""The kinds of figures in the papers. Each is data that can draw itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from airtcp.showing.figures.canvas import legend_beside
from airtcp.showing.figures.style import (
    GREY,
    MARK_OF,
    figure,
    line_style,
    small_multiples,
)
from airtcp.showing.palette import looks
from airtcp_studies.frame.rows import Values, estimate_of

HOLLOW: dict[str, Any] = {"linestyle": "", "markerfacecolor": "none", "markersize": 6, "zorder": 5}


class Plot(Protocol):
    """A figure before it is drawn."""

    @property
    def caption(self) -> str:
        """Describes it in a sentence."""

    def draw(self) -> Figure:
        """Draws it; called inside the figures' style."""


Curve = Mapping[float, Values]
"""Results at each point of the swept parameter, drawn with their intervals."""


@dataclass(frozen=True)
class SweepPlot:
    """Curves over a swept parameter, with error bars."""

    x_label: str
    y_label: str
    curves: Mapping[str, Curve]
    caption: str = ""
    bounds: Mapping[str, Curve] = field(default_factory=dict)
    """Closed forms and bounds: grey, without markers."""
    quoted: Mapping[str, Curve] = field(default_factory=dict)
    """Values stated in the paper, by their curve: hollow marks."""
    log_x: bool = False
    log_y: bool = False

    def draw(self) -> Figure:
        drawn = figure(3.0)
        axes = drawn.subplots()
        own = looks(self.curves)
        for name, curve in self.curves.items():
            _curve(axes, name, curve, marker=MARK_OF[own[name].mark], ms=3.5, **line_style(own[name]))
        for place, (name, curve) in enumerate(self.bounds.items()):
            dashes: Any = ((0, (4, 2)), (0, (1, 1)), "-.")[place % 3]
            _curve(axes, name, curve, color=GREY, linestyle=dashes)
        for name, points in self.quoted.items():
            style = {"color": own[name].colour, "marker": MARK_OF[own[name].mark], **HOLLOW}
            _curve(axes, f"{name}, in the paper", points, **style)
        if self.log_x:
            axes.set_xscale("log")
        if self.log_y:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        if not self.log_y and axes.get_ylim()[0] > 0:
            axes.set_ylim(bottom=0)
        axes.margins(x=0.03)
        axes.set(xlabel=self.x_label, ylabel=self.y_label)
        legend_beside(axes, axes.get_legend_handles_labels()[1])
        return drawn


def _curve(axes: Axes, name: str, curve: Curve, **style: Any) -> None:
    points = {x: estimate_of(values) for x, values in sorted(curve.items())}
    bars = [found.half_width or 0.0 for found in points.values()]
    means = [found.mean for found in points.values()]
    axes.errorbar(list(points), means, yerr=bars if any(bars) else None, label=name, capsize=2, **style)


MAX_DOTS = 4000
"""A line with more points is rasterised in the SVG, where megabytes of points would show no more."""

Line = tuple[Sequence[float], Sequence[float]]
"""Times in seconds, and values."""


@dataclass(frozen=True)
class TimePlot:
    """Curves over time: a panel for each of cwnd, queue and sequence numbers, or for each scheme."""

    y_label: str
    panels: Mapping[str, Mapping[str, Line]]
    """Lines by label, by the panel's title."""
    caption: str = ""
    dots: Sequence[str] = ()
    """Lines drawn as dots: packets of a sequence plot."""
    x_label: str = "time [s]"
    share_y: bool = True
    begin_s: float | None = None
    """Where the figure begins; None for 0 s."""

    def draw(self) -> Figure:
        drawn, panels = small_multiples(
            list(self.panels),
            self.x_label,
            self.y_label,
            share_y=self.share_y,
            panel_in=2.0 if len(self.panels) < 3 else 1.05,
        )
        labels = list(dict.fromkeys(label for lines in self.panels.values() for label in lines))
        own = looks(labels)
        for panel, lines in zip(panels, self.panels.values(), strict=True):
            for label, (times, values) in lines.items():
                style: dict[str, Any] = (
                    {"linestyle": "", "marker": ".", "ms": 2, "color": own[label].colour}
                    if label in self.dots
                    else {"drawstyle": "steps-post", "lw": 0.8, **line_style(own[label])}
                )
                panel.plot(times, values, label=label, rasterized=len(times) > MAX_DOTS, **style)
        if len(labels) > 1:
            _legend_above(drawn, panels, labels)
        return drawn


def _legend_above(drawn: Figure, panels: Sequence[Axes], labels: Sequence[str]) -> None:
    handles: dict[str, Any] = {}
    for panel in panels:
        found, names = panel.get_legend_handles_labels()
        handles |= dict(zip(names, found, strict=True))
    drawn.legend(
        [handles[label] for label in labels], labels, loc="outside upper right", ncols=4, markerscale=3
    )


@dataclass(frozen=True)
class BarPlot:
    """Groups of bars, with error bars."""

    y_label: str
    groups: Mapping[str, Mapping[str, Values]]
    """Bars by label, by the group's name."""
    caption: str = ""
    quoted: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The paper's values, by group and label: a hollow mark on the bar."""

    def draw(self) -> Figure:
        drawn = figure(2.8)
        axes = drawn.subplots()
        labels = list(dict.fromkeys(label for bars in self.groups.values() for label in bars))
        at, centres = self._places(labels)
        own = looks(labels)
        for label in labels:
            found = {
                at[g, label]: estimate_of(bars[label]) for g, bars in self.groups.items() if label in bars
            }
            axes.bar(
                list(found),
                [value.mean for value in found.values()],
                width=0.92,
                yerr=[value.half_width or 0.0 for value in found.values()],
                color=own[label].colour,
                error_kw={"lw": 0.9, "capsize": 2},
                label=label,
            )
        said = {at[g, label]: value for g, by in self.quoted.items() for label, value in by.items()}
        if said:
            axes.plot(
                list(said), list(said.values()), marker="D", color="black", label="in the paper", **HOLLOW
            )
        if all(estimate_of(values).mean >= 0 for bars in self.groups.values() for values in bars.values()):
            axes.set_ylim(bottom=0)
        axes.set_xticks(centres, list(self.groups))
        axes.tick_params(axis="x", length=0)
        axes.grid(visible=False, axis="x")
        axes.margins(x=0.03)
        axes.set_ylabel(self.y_label)
        legend_beside(axes, [*labels, *(["in the paper"] if said else [])])
        return drawn

    def _places(self, labels: Sequence[str]) -> tuple[dict[tuple[str, str], float], list[float]]:
        """Returns the position of each bar, in widths of a bar, and the middle of each group."""
        at: dict[tuple[str, str], float] = {}
        centres: list[float] = []
        left = 0.0
        for group, bars in self.groups.items():
            present = [label for label in labels if label in bars]
            at |= {(group, label): left + place for place, label in enumerate(present)}
            centres.append(left + (len(present) - 1) / 2)
            left += len(present) + 1
        return at, centres
