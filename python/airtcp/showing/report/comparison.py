"""The report of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airtcp.facts.numbers import interval, percent
from airtcp.facts.stats import CONFIDENCE
from airtcp.facts.summary import SchemeSummary, completion_times_s
from airtcp.facts.units import rate_scale
from airtcp.results.comparison import Comparison
from airtcp.showing.comparison_table import columns
from airtcp.showing.report.blocks import Block, Section, Source, Table, Text
from airtcp.showing.report.facts import airtime_tables, assumed, host_section, repeat_section, truth_table
from airtcp.showing.report.figure import Figure
from airtcp.showing.report.over_runs import completion_cdf, goodput_bars
from airtcp.showing.report.over_time import figures, runs_of
from airtcp.showing.report.page import Page


def comparison_page(found: Comparison, command: str | None = None) -> Page:
    """`command` repeats the comparison. Raises ValueError if nothing has run."""
    if not found.runs:
        raise ValueError("nothing to report: no run has finished")
    scenario = found.scenario
    return Page(
        title=scenario.name or "A comparison",
        subtitle=scenario.description,
        summary=found.verdict.text if found.verdict else _alone(found.summaries[0]),
        blocks=[
            *sections(found, [row.scheme for row in found.summaries]),
            *assumed(found.fitted),
            *host_section(found.host),
            repeat_section(scenario, command, in_real_time=found.host is not None),
        ],
    )


def sections(found: Comparison, schemes: Sequence[str]) -> list[Section]:
    """Returns the results in tables and figures; the `schemes` have the colours of their places."""
    return [
        Section("Summary", list(_summary(found))),
        Section("Figures", list(_figures(found)), schemes=schemes),
    ]


def summary_table(summaries: Sequence[SchemeSummary], best: Sequence[str]) -> Table:
    """Returns the terminal's table, with all columns."""
    shown = columns(summaries)
    runs = max((len(row.seeds) for row in summaries), default=0)
    said = (
        f"Mean of {runs} runs ± half-width of the {percent(CONFIDENCE, 0)} % interval"
        if runs > 1
        else "One run"
    )
    return Table(
        f"{said}. Highlighted: the best scheme and its statistical ties." if best else f"{said}.",
        ["scheme", *(f"{column.title}\n{column.unit}" for column in shown)],
        [[row.scheme, *(column.cell(row) for column in shown)] for row in summaries],
        strong=[place for place, row in enumerate(summaries) if row.scheme in best],
    )


def _summary(found: Comparison) -> Iterator[Block]:
    said = found.verdict.text if found.verdict else None
    for note in found.notes:
        if note != said:
            yield Text(note, "warning")
    texts = dict.fromkeys(failure.text for failure in found.failures)
    yield from (Source("Failures", text, "failure.txt") for text in texts)
    yield summary_table(found.summaries, found.best)
    yield truth_table(found.runs, on_linux=found.host is not None)
    yield from airtime_tables(found.runs)


def _figures(found: Comparison) -> Iterator[Figure]:
    if any(completion_times_s(run) for run in found.runs):
        yield completion_cdf(found.runs)
    yield goodput_bars(found.summaries, found.runs, found.best)
    if found.first_series:
        looked_at = runs_of(found.first_series, found.scenario.seed, found.scenario)
        if looked_at:
            yield from (make(looked_at) for make in figures(looked_at).values())


def _alone(row: SchemeSummary) -> str:
    scale, unit = rate_scale([row.goodput.mean])
    return f"{row.scheme}: goodput {interval(row.goodput.scaled(1 / scale))} {unit}."
