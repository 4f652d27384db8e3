"""Draws the deviation of the kernel from the simulator, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airtcp.showing.figures.style import COLOURS, GREY, MARKERS, figure, plain_ticks
from airtcp_studies.fidelity.grid import SCHEMES
from airtcp_studies.fidelity.judge import (
    COMPLETION,
    GOODPUT,
    RETRANSMITTED,
    RTT,
    Aspect,
    Compared,
    Judged,
    Verdict,
)
from airtcp_studies.fidelity.page import UNITS

PANELS = (GOODPUT, COMPLETION, RETRANSMITTED, RTT)


def differences(found: Sequence[Compared]) -> Figure:
    """Draws a panel per aspect, with a mark per decided cell; the band is what counts as close."""
    drawn = figure(5.2)
    panels = drawn.subplots(2, 2)
    for axes, aspect in zip(panels.flat, PANELS, strict=True):
        _panel(axes, aspect, found)
    drawn.legend(*panels.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(SCHEMES))
    return drawn


def _panel(axes: Axes, aspect: Aspect, found: Sequence[Compared]) -> None:
    unit = UNITS[aspect]
    axes.axhspan(-100 * aspect.close, 100 * aspect.close, color="#80808030", lw=0)
    axes.axhline(0, color=GREY, lw=0.8)
    for place, scheme in enumerate(SCHEMES):
        mine = [each for cell in found if cell.cell.scheme == scheme for each in _decided(cell, aspect)]
        axes.plot(
            [judged.simulated * unit.factor for judged in mine],
            [100 * judged.apart.mean for judged in mine],
            MARKERS[place],
            color=COLOURS[place],
            ms=3.5,
            mfc="none",
            ls="none",
            label=scheme,
        )
    if aspect.is_ratio:
        axes.set_xscale("log")
        plain_ticks(axes)
    axes.set_xlabel(f"{aspect.name} in the simulator [{unit.name}]")
    axes.set_ylabel("kernel less simulator " + ("[%]" if aspect.is_ratio else "[points]"))


def _decided(cell: Compared, aspect: Aspect) -> list[Judged]:
    judged = cell.judged(aspect) if aspect in cell.aspects else None
    return [judged] if judged and judged.verdict is not Verdict.UNDECIDED else []
