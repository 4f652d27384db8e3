"""What a paper's file needs; `airtcp_studies.papers` explains its use."""

from airtcp_studies.frame.context import Case, Context, Runs, altered
from airtcp_studies.frame.model import Experiment, OpenParameter, Paper, Result, Table, experiment
from airtcp_studies.frame.plots import BarPlot, Plot, SweepPlot, TimePlot
from airtcp_studies.frame.rows import (
    Row,
    Tolerance,
    Tried,
    absolute,
    claim,
    gain,
    gain_of,
    info,
    ratio,
    ratio_of,
)

__all__ = [
    "BarPlot",
    "Case",
    "Context",
    "Experiment",
    "OpenParameter",
    "Paper",
    "Plot",
    "Result",
    "Row",
    "Runs",
    "SweepPlot",
    "Table",
    "TimePlot",
    "Tolerance",
    "Tried",
    "absolute",
    "altered",
    "claim",
    "experiment",
    "gain",
    "gain_of",
    "info",
    "ratio",
    "ratio_of",
]
