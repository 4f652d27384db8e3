"""The report of a single run."""

from __future__ import annotations

from airtcp.results.one_run import RunResult
from airtcp.showing.lines import run_lines
from airtcp.showing.report.blocks import Block, List, Section, Text
from airtcp.showing.report.facts import assumed, host_section, repeat_section, station_tables, truth_table
from airtcp.showing.report.over_time import figures, runs_of
from airtcp.showing.report.page import Page


def run_page(found: RunResult, command: str | None = None) -> Page:
    """`command` repeats the run."""
    scenario, said = found.scenario, [*run_lines(found.run), *found.notes]
    on_linux = found.host is not None
    told = List([line.strip() for line in said[1:]])
    blocks: list[Block] = [
        Section("Summary", [told, truth_table([found.run], on_linux=on_linux), *station_tables(found.run)]),
        *assumed(found.fitted),
    ]
    looked_at = None
    if found.time_series:
        looked_at = runs_of({found.scheme: found.time_series}, found.seed, scenario)
    if looked_at:
        drawn = [make(looked_at) for make in figures(looked_at).values()]
        blocks.append(Section("Figures", drawn, schemes=[found.scheme], buttons=False))
    else:
        blocks.append(Text("No time series were recorded.", "quiet"))
    chosen = {"seed": str(found.seed), "scheme": found.scheme}
    return Page(
        title=scenario.name or "A run",
        subtitle=scenario.description,
        summary=f"{said[0]}: {said[1].removeprefix('flow ')}." if len(said) > 1 else said[0],
        blocks=[
            *blocks,
            *host_section(found.host),
            repeat_section(scenario, command, chosen, in_real_time=on_linux),
        ],
    )
