"""How long transfers took."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from airtcp.facts.records import Run
from airtcp.facts.summary import completion_times_s, group
from airtcp.showing.figures.style import figure, legend_beside, line_style

LOGARITHMIC_FROM = 30.0
"""Longest over shortest time from which a linear axis would hide the short ones."""


def completion_curves(runs: Sequence[Run]) -> Figure:
    """Of each scheme, the share of all transfers that was complete after a time."""
    times = {
        scheme: np.sort([time for run in of_scheme for time in completion_times_s(run)])
        for scheme, of_scheme in group(runs).items()
    }
    drawn = figure(2.8)
    axes = drawn.subplots()
    for place, (scheme, ordered) in enumerate(times.items()):
        shares = np.arange(1, len(ordered) + 1) / max(len(ordered), 1)
        axes.step(ordered, shares, where="post", label=scheme, **line_style(place))
    everything = np.concatenate(list(times.values()))
    if everything.max() > LOGARITHMIC_FROM * everything.min():
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set(xlabel="completion time [s]", ylabel="share of transfers", ylim=(0, 1.02))
    legend_beside(axes, list(times))
    return drawn
