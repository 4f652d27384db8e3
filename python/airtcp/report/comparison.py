"""The report of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from airtcp._engine import Scenario, version
from airtcp.comparison import Comparison
from airtcp.records import Flow, Run
from airtcp.report.blocks import Block, Facts, Section, Source, Table, Text
from airtcp.report.figure import Figure
from airtcp.report.over_runs import completion_cdf, goodput_bars
from airtcp.report.over_time import figures, runs_of
from airtcp.report.page import Page
from airtcp.scenarios import seeds_of
from airtcp.stats import CONFIDENCE
from airtcp.summary import SchemeSummary, completion_times_s, group, measured
from airtcp.table import columns, interval, percent
from airtcp.units import rate_scale


def comparison_page(found: Comparison, command: str | None = None) -> Page:
    """`command` is the one that repeats it. Raises ValueError where nothing has run."""
    if not found.runs:
        raise ValueError("there is nothing to report: no run is finished")
    scenario = found.scenario
    return Page(
        title=scenario.name or "A comparison",
        subtitle=scenario.description,
        summary=found.verdict.text if found.verdict else _alone(found.summaries[0]),
        blocks=[
            Section("Summary", list(_summary(found))),
            Section("Figures", list(_figures(found)), schemes=[row.scheme for row in found.summaries]),
            repeat_section(scenario, command),
        ],
    )


def summary_table(summaries: Sequence[SchemeSummary], best: Sequence[str]) -> Table:
    """The table of the terminal, with all its columns."""
    shown = columns(summaries)
    runs = max((len(row.seeds) for row in summaries), default=0)
    said = f"Mean of {runs} runs ± half of the {percent(CONFIDENCE, 0)} % interval" if runs > 1 else "One run"
    return Table(
        f"{said}. Rows that stand out: the best, and what cannot be told from it." if best else f"{said}.",
        ["scheme", *(f"{column.title}\n{column.unit}" for column in shown)],
        [[row.scheme, *(column.cell(row) for column in shown)] for row in summaries],
        strong=[place for place, row in enumerate(summaries) if row.scheme in best],
    )


def repeat_section(scenario: Scenario, command: str | None) -> Section:
    """All that is needed to get the same numbers again."""
    seeds = seeds_of(scenario)
    facts = {
        "airtcp": version(),
        "seeds": f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0]),
        "simulated time": f"{scenario.duration_s:g} s a run",
        "profile": scenario.profile,
        "schemes": ", ".join(dict.fromkeys(scenario.schemes)),
    }
    blocks: list[Block] = [Facts(facts)]
    if command:
        blocks.append(Source("The command", command, "command.txt", folded=False))
    blocks.append(Source("The scenario, with every default written out", scenario.to_toml(), "scenario.toml"))
    blocks.append(Text("The same scenario and seed give the same bytes, on any machine.", "quiet"))
    return Section("To repeat it", blocks)


def _summary(found: Comparison) -> Iterator[Block]:
    said = found.verdict.text if found.verdict else None
    for note in found.notes:
        if note != said:
            yield Text(note, "warning")
    texts = dict.fromkeys(failure.text for failure in found.failures)
    yield from (Source("What failed, and where", text, "failure.txt") for text in texts)
    yield summary_table(found.summaries, found.best)
    yield truth_table(found.runs)


def _figures(found: Comparison) -> Iterator[Figure]:
    yield goodput_bars(found.summaries, found.runs, found.best)
    if any(completion_times_s(run) for run in found.runs):
        yield completion_cdf(found.runs)
    if found.first_series:
        looked_at = runs_of(found.first_series, found.scenario.seed, found.scenario.duration_s)
        if looked_at:
            yield from figures(looked_at)


_TRUTHS: tuple[tuple[str, str], ...] = (
    ("data packets\nsent", "data_packets_sent"),
    ("lost to\ncorruption", "losses_corruption"),
    ("lost to\ncongestion", "losses_congestion"),
    ("lost to\noutages", "losses_outage"),
    ("packets\nresent", "retransmissions"),
    ("of these\nin vain", "retransmissions_spurious"),
    ("fast\nretransmits", "fast_retransmits"),
    ("cwnd\nreductions", "cwnd_reductions"),
    ("timeouts\n", "timeouts"),
    ("of these\nspurious", "timeouts_spurious"),
)


def truth_table(runs: Sequence[Run]) -> Table:
    """What only a simulator knows: which losses were what, and what was resent in vain."""
    by_scheme = group(runs)

    def mean(of_scheme: Sequence[Run], key: str) -> float:
        return fmean(sum(_count(flow, key) for flow in measured(run)) for run in of_scheme)

    means = {scheme: [mean(runs, key) for _, key in _TRUTHS] for scheme, runs in by_scheme.items()}
    shown = [place for place in range(len(_TRUTHS)) if any(row[place] for row in means.values())]
    return Table(
        "What happened to the measured flows, mean a run: the simulator knows which losses were what.",
        ["scheme", *(_TRUTHS[place][0] for place in shown)],
        [[scheme, *(_mean(row[place]) for place in shown)] for scheme, row in means.items()],
    )


def _count(flow: Flow, key: str) -> int:
    return flow[key]  # type: ignore[literal-required, no-any-return]


def _mean(value: float) -> str:
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def _alone(row: SchemeSummary) -> str:
    scale, unit = rate_scale([row.goodput.mean])
    return f"{row.scheme}: goodput {interval(row.goodput.scaled(1 / scale))} {unit}."
