"""Does what `airtcp compare` asks for."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console

from airtcp._engine import Scenario
from airtcp.asking.compare import compare
from airtcp.asking.given import assumptions
from airtcp.asking.on import On
from airtcp.asking.on_linux import prepare
from airtcp.results.comparison import Comparison
from airtcp.results.side_by_side import SideBySide
from airtcp.showing.air_tables import pair_text, use_text
from airtcp.showing.comparison_table import columns, print_table
from airtcp.showing.pair_table import pair_columns


def announced(scenario: Scenario, on: On, jobs: int | None, kernel: str | None) -> list[str]:
    """Says what will run on Linux. Raises LinuxError for an unsuitable host."""
    if on == "sim":
        return []
    prepared = prepare(scenario, kernel)
    return prepared.announcement(jobs or prepared.place.at_a_time)


def compared(
    scenario: Scenario, on: On, jobs: int | None, interval_s: float | None, kernel: str | None
) -> Comparison | SideBySide:
    """Runs the comparison; the result includes the assumptions of a scenario fitted to a measurement."""
    fitted = assumptions(scenario)
    if on == "both":
        both = compare(scenario, on="both", jobs=jobs, interval_s=interval_s, progress=True, kernel=kernel)
        return SideBySide(replace(both.sim, fitted=fitted), replace(both.linux, fitted=fitted))
    found = compare(scenario, on=on, jobs=jobs, interval_s=interval_s, progress=True, kernel=kernel)
    return replace(found, fitted=fitted)


def print_compared(console: Console, found: Comparison | SideBySide) -> None:
    """Prints the table."""
    if isinstance(found, Comparison):
        print_table(console, found.summaries, columns(found.summaries), found.best, found.failed_schemes)
        lines = use_text(found.runs)
    else:
        print_table(console, found.rows, pair_columns(found.rows))
        lines = pair_text(found.sim.runs, found.linux.runs)
    for line in lines:
        console.print(line)
