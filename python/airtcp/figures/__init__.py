"""Figures that one would put into a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from airtcp.comparison import Comparison
from airtcp.figures.bars import goodput_bars
from airtcp.figures.completion import completion_curves
from airtcp.figures.curves import cwnd_curves, is_one_connection, queue_curves, sequence_curves
from airtcp.figures.style import save, style
from airtcp.series import Series
from airtcp.summary import SchemeSummary, completion_times_s

__all__ = ["draw_all", "draw_series"]


def draw_all(
    comparison: Comparison, summaries: Sequence[SchemeSummary], best: Sequence[str], directory: Path
) -> list[Path]:
    """Writes every figure as PNG and SVG; answers where they are."""
    with style():
        figures = {"goodput": goodput_bars(summaries, comparison.runs, best)}
        if any(completion_times_s(run) for run in comparison.runs):
            figures["completion"] = completion_curves(comparison.runs)
        paths = [path for name, drawn in figures.items() for path in save(drawn, directory, name)]
    return paths + (draw_series(comparison.series, directory) if comparison.series else [])


def draw_series(series: Mapping[str, Series], directory: Path) -> list[Path]:
    """The curves of one run of each scheme."""
    with style():
        figures = {"cwnd": cwnd_curves(series), "queue": queue_curves(series)}
        flows = [flow for found in series.values() for flow in found.flows.partition_by("flow")]
        if all(is_one_connection(flow) for flow in flows):
            figures["sequence"] = sequence_curves(series)
        return [path for name, drawn in figures.items() for path in save(drawn, directory, name)]
