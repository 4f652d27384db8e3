"""The report of one comparison in the simulator and on the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airtcp.facts.numbers import percent
from airtcp.facts.stats import CONFIDENCE
from airtcp.results.comparison import Comparison
from airtcp.results.side_by_side import SideBySide
from airtcp.showing.comparison_table import cells
from airtcp.showing.pair_table import pair_columns
from airtcp.showing.report.blocks import Block, Section, Table, Text
from airtcp.showing.report.comparison import sections
from airtcp.showing.report.facts import assumed, host_section, repeat_section
from airtcp.showing.report.over_runs import paired_goodputs
from airtcp.showing.report.page import Page


def side_by_side_page(found: SideBySide, command: str | None = None) -> Page:
    """`command` repeats the comparison. Raises ValueError if nothing has run."""
    if not (found.sim.runs or found.linux.runs):
        raise ValueError("nothing to report: no run has finished")
    scenario = found.sim.scenario
    schemes = scenario.schemes
    return Page(
        title=scenario.name or "A comparison",
        subtitle=scenario.description,
        summary=found.agreement.text
        if found.agreement
        else "No scheme ran both in the simulator and on Linux.",
        blocks=[
            Section("Side by side", list(_pairs(found)), schemes=schemes),
            *_of("On Linux", found.linux, schemes),
            *_of("In the simulator", found.sim, schemes),
            *assumed(found.sim.fitted),
            *host_section(found.linux.host),
            repeat_section(scenario, command, in_real_time=True),
        ],
    )


def _pairs(found: SideBySide) -> Iterator[Block]:
    yield from (Text(remark, "warning") for remark in found.remarks)
    titles, rows = cells(found.rows, pair_columns(found.rows))
    yield Table(
        f"Means ± half-width of the {percent(CONFIDENCE, 0)} % interval; ratios pair runs by seed.",
        titles,
        rows,
    )
    if found.agreement:
        yield paired_goodputs(found.agreement.pairs)


def _of(title: str, found: Comparison, schemes: Sequence[str]) -> list[Section]:
    if not found.runs:
        return []
    said = [Text(found.verdict.text, "strong")] if found.verdict else []
    return [Section(title, [*said, *sections(found, schemes)])]
