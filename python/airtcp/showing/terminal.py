"""Results as text for a terminal."""

from __future__ import annotations

from functools import singledispatch

from airtcp.facts.scenario import headline
from airtcp.results.comparison import Comparison
from airtcp.results.one_run import RunResult
from airtcp.results.side_by_side import SideBySide
from airtcp.showing import standings
from airtcp.showing.air_tables import pair_text, station_text, use_text
from airtcp.showing.comparison_table import as_text, columns
from airtcp.showing.lines import run_lines
from airtcp.showing.pair_table import pair_columns
from airtcp.sweep.result import SweepResult


@singledispatch
def text_of(found: object) -> str:
    """Returns its text, as wide as the terminal."""
    raise TypeError(f"{type(found).__name__} has no text")


@text_of.register
def _(found: Comparison) -> str:
    summaries = found.summaries
    table = as_text(summaries, columns(summaries), found.failed_schemes)
    tables = [table, *use_text(found.runs)] if found.runs else ["no runs"]
    return "\n".join([found.headline, *tables, *found.notes])


@text_of.register
def _(found: SideBySide) -> str:
    rows = found.rows
    table = as_text(rows, pair_columns(rows))
    tables = [table, *pair_text(found.sim.runs, found.linux.runs)] if rows else ["no runs"]
    return "\n".join([found.headline, *tables, *found.notes])


@text_of.register
def _(found: RunResult) -> str:
    return "\n".join([*run_lines(found.run), *station_text(found.run), *found.notes])


@text_of.register
def _(found: SweepResult) -> str:
    table = standings.as_text(found.plan, found.judged)
    parts = [headline(found.scenario), found.plan.size, table, found.verdict]
    return "\n".join(part for part in parts if part)
