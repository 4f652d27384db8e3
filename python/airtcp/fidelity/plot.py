"""Goodput on the kernel over that in the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from matplotlib.figure import Figure

from airtcp.fidelity.findings import CLOSE, Finding
from airtcp.fidelity.grid import SCHEMES
from airtcp.figures.style import COLOURS, GREY, MARKERS, figure, plain_ticks


def ratios(found: Sequence[Finding]) -> Figure:
    """A mark a cell, by what the simulator gives; the band is what counts as close."""
    drawn = figure(3.2)
    axes = drawn.subplots()
    axes.axhspan(1 - CLOSE, 1 + CLOSE, color="#80808030", lw=0)
    axes.axhline(1, color=GREY, lw=0.8)
    for place, scheme in enumerate(SCHEMES):
        mine = [finding for finding in found if finding.cell.scheme == scheme]
        axes.plot(
            [fmean(finding.simulated) / 1e6 for finding in mine],
            [finding.ratio for finding in mine],
            MARKERS[place],
            color=COLOURS[place],
            ms=4,
            mfc="none",
            label=scheme,
        )
    axes.set_xscale("log")
    axes.margins(x=0.03)
    plain_ticks(axes)
    axes.set_xlabel("goodput in the simulator [Mbit/s]")
    axes.set_ylabel("kernel / simulator")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return drawn
