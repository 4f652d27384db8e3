"""The page of each kind of result."""

from __future__ import annotations

from functools import singledispatch

from airtcp.results.comparison import Comparison
from airtcp.results.one_run import RunResult
from airtcp.results.side_by_side import SideBySide
from airtcp.showing.report import Page
from airtcp.showing.report.comparison import comparison_page
from airtcp.showing.report.one_run import run_page
from airtcp.showing.report.side_by_side import side_by_side_page
from airtcp.showing.report.sweep import sweep_page
from airtcp.sweep.result import SweepResult


@singledispatch
def page_of(found: object, _command: str | None = None) -> Page:
    """`_command` repeats the result. Raises ValueError if nothing has run."""
    raise TypeError(f"{type(found).__name__} has no page")


page_of.register(Comparison, comparison_page)
page_of.register(RunResult, run_page)
page_of.register(SideBySide, side_by_side_page)
page_of.register(SweepResult, sweep_page)
