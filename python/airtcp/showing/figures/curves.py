"""How each scheme got there: cwnd, sequence numbers and queue over the time of one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from airtcp.facts.series import Series
from airtcp.facts.units import size_scale
from airtcp.showing.figures.style import COLOURS, GREY, figure, legend_beside, line_style, small_multiples

TIME = "time [s]"
LOGARITHMIC_FROM = 5.0
"""Largest over smallest peak of the schemes from which a linear axis would hide the small ones."""
CURVE: dict[str, Any] = {"drawstyle": "steps-post"}
DOTS: dict[str, Any] = {"linestyle": "", "marker": ".", "markersize": 1.5}
MAX_FLOWS = 8
"""Flows drawn in one panel: more are only ink."""


def cwnd_curves(series: Mapping[str, Series]) -> Figure:
    """A panel a scheme: cwnd of every flow, and ssthresh once it is known."""
    tops = [_top(of_scheme.flows, "cwnd_bytes") for of_scheme in series.values()]
    # Not the peaks: slow start's overshoot would choose the unit.
    scale, unit = size_scale([_median(of_scheme.flows, "cwnd_bytes") for of_scheme in series.values()])
    drawn, panels = small_multiples(list(series), TIME, f"cwnd [{unit}], ssthresh dashed")
    for panel, of_scheme in zip(panels, series.values(), strict=True):
        for place, flow in enumerate(_flows(of_scheme.flows)):
            time, cwnd = flow["time_s"], flow["cwnd_bytes"] / scale
            # An ssthresh above all windows says no more than that there has been no loss yet.
            known = pl.when(pl.col("ssthresh_bytes") <= max(tops)).then("ssthresh_bytes")
            ssthresh = flow.select(known).to_series() / scale
            if is_one_connection(flow):
                panel.plot(time, ssthresh, color=GREY, lw=0.6, ls=(0, (3, 2)), drawstyle="steps-post")
            style = CURVE if is_one_connection(flow) else DOTS
            panel.plot(time, cwnd, color=COLOURS[place % len(COLOURS)], **style)
    if max(tops) > LOGARITHMIC_FROM * min(tops):
        panels[0].set_yscale("log")
        panels[0].yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    else:
        panels[0].set_ylim(bottom=0, top=1.05 * max(tops) / scale)
    panels[0].set_xlim(left=0)
    return drawn


def sequence_curves(series: Mapping[str, Series]) -> Figure:
    """All schemes in one panel: bytes acknowledged over time, by all flows together."""
    totals = {scheme: _total(of_scheme.flows, "una_bytes") for scheme, of_scheme in series.items()}
    scale, unit = size_scale([_top(total, "una_bytes") for total in totals.values()])
    drawn = figure(3.0)
    axes = drawn.subplots()
    for place, (scheme, total) in enumerate(totals.items()):
        axes.plot(total["time_s"], total["una_bytes"] / scale, label=scheme, **line_style(place))
    axes.set(xlabel=TIME, ylabel=f"acknowledged [{unit}]", xlim=(0, None), ylim=(0, None))
    # In the order in which the curves end, so that each name stands near its curve.
    legend_beside(axes, sorted(totals, key=lambda scheme: -_top(totals[scheme], "una_bytes")))
    return drawn


def queue_curves(series: Mapping[str, Series]) -> Figure:
    """A panel a scheme: the queue of the link on which most waits."""
    link = _bottleneck(series)
    drawn, panels = small_multiples(list(series), TIME, f"queue of {link} [packets]")
    for panel, of_scheme in zip(panels, series.values(), strict=True):
        queue = of_scheme.queues.filter(pl.col("link") == link)
        panel.plot(queue["time_s"], queue["packets"], color=COLOURS[0], drawstyle="steps-post", lw=0.7)
    panels[0].set_ylim(bottom=0)
    panels[0].set_xlim(left=0)
    return drawn


def is_one_connection(flow: pl.DataFrame) -> bool:
    """Is it the series of one connection, and not of many short ones, whose positions begin anew?"""
    return flow["una_bytes"].is_sorted()


def _flows(frame: pl.DataFrame) -> list[pl.DataFrame]:
    return frame.partition_by("flow", maintain_order=True)[:MAX_FLOWS]


def _total(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    return frame.group_by("time_s").agg(pl.col(column).sum()).sort("time_s")


def _top(frame: pl.DataFrame, column: str) -> float:
    top = frame[column].max()
    return float(top) if isinstance(top, (int, float)) and top > 0 else 1.0


def _median(frame: pl.DataFrame, column: str) -> float:
    median = frame[column].median()
    return float(median) if isinstance(median, (int, float)) else 0.0


def _bottleneck(series: Mapping[str, Series]) -> str:
    links = pl.concat([of_scheme.queues for of_scheme in series.values()])
    means = links.group_by("link", maintain_order=True).agg(pl.col("packets").mean())
    name: str = means.sort("packets", descending=True, maintain_order=True)["link"][0]
    return name
