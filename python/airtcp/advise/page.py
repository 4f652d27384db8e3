"""The answer as an HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airtcp.advise.advice import Advice, Row
from airtcp.advise.deployment import AIRTCP, STAGES
from airtcp.advise.ranges import percent_lost, plane, propagation
from airtcp.advise.table import cells, columns, reached_by, rtt
from airtcp.facts.numbers import NONE, interval
from airtcp.facts.stats import Estimate
from airtcp.showing.report import (
    Axis,
    Bars,
    Block,
    Dots,
    Facts,
    Figure,
    Heat,
    List,
    Mark,
    Page,
    Rule,
    Section,
    Source,
    Text,
)
from airtcp.showing.report import Table as PageTable

MOST_ROWS = 12
"""Candidates drawn: a reader could not tell more apart."""


def advice_page(advice: Advice) -> Page:
    """Builds the page. Raises ValueError if nothing has run."""
    if not advice.rows:
        raise ValueError("there is nothing to report: no run is finished")
    drawn = _drawn(advice)
    return Page(
        title=f"What to use on {advice.scenario['name'] or 'this path'}",
        subtitle=advice.scenario["description"],
        summary=next((p.text for p in advice.text if p.title == "What to do"), advice.text[0].text),
        blocks=[
            Section("Answer", list(_answer(advice))),
            Section("Candidates", list(_candidates(advice))),
            Section("Figures", list(_figures(advice, drawn)), schemes=_schemes(advice, drawn)),
            Section("To repeat it", list(_repeat(advice))),
        ],
    )


def _answer(advice: Advice) -> Iterator[Block]:
    if advice.interrupted:
        yield Text(advice.text[0].text, "warning")
    yield List([(p.title, p.text) for p in advice.text if p.title not in ("What to do", "Interrupted")])


def _candidates(advice: Advice) -> Iterator[Block]:
    shown = columns(advice)
    use = advice.recommendation.use if advice.recommendation else None
    yield PageTable(
        "From best to worst; the recommended scheme is highlighted.",
        ["scheme", *(f"{column.title}\n{column.unit}" for column in shown)],
        cells(advice.rows, shown),
        strong=[place for place, row in enumerate(advice.rows) if row.name == use],
        left=[place for place, column in enumerate(shown, 1) if column.title in ("at", "needs")],
    )
    table = PageTable(
        "What each scheme needs, with sources.",
        ["scheme", "how", "stage", "airtcp", "packets", "encrypted traffic", "mind", "source"],
        [_needs(row) for row in advice.rows],
        left=range(1, 8),
    )
    yield Section("What each needs", [table], folded=True)


def _needs(row: Row) -> list[str]:
    needs = row.needs
    texts = (needs.headers, needs.encrypted, needs.cautions, needs.sources)
    return [
        row.name,
        "; ".join(needs.how),
        STAGES[needs.stage],
        AIRTCP[needs.airtcp],
        *("; ".join(text) or NONE for text in texts),
    ]


def _figures(advice: Advice, drawn: Sequence[Row]) -> Iterator[Figure]:
    yield _reached(advice, drawn)
    yield _delay(advice, drawn)
    shared = [row for row in drawn if row.share]
    if shared:
        yield _shares(shared)
    if advice.around and advice.recommendation:
        yield _around(advice)


def _reached(advice: Advice, drawn: Sequence[Row]) -> Figure:
    values, label = reached_by(advice, drawn)
    use = advice.recommendation.use if advice.recommendation else None
    marks: list[Mark] = [_bar(row, value, row.name == use) for row, value in zip(drawn, values, strict=True)]
    said = "; ".join(f"{row.name} {interval(value)}" for row, value in zip(drawn, values, strict=True))
    return Figure(
        label.partition(" [")[0].capitalize(),
        "Mean over all runs of each scheme, with its interval. Highlighted: the recommended scheme.",
        f"{label}: {said}.",
        Axis(label, from_zero=True),
        Axis("", categories=True),
        marks,
        height=120 + 26 * len(drawn),
    )


def _delay(advice: Advice, drawn: Sequence[Row]) -> Figure:
    values, label = reached_by(advice, drawn)
    known = [(row, value) for row, value in zip(drawn, values, strict=True) if row.rtt_p95_ms is not None]
    marks = [
        Dots(row.name, [row.rtt_p95_ms], [value.mean], scheme=row.name, notes=[row.name], size=11)
        for row, value in known
    ]
    return Figure(
        f"{label.partition(' [')[0].capitalize()} and delay",
        "95th-percentile round trips: what a full queue costs everything on the link. Proxies are omitted,"
        " since the sender's round trips end there.",
        "; ".join(f"{row.name}: {interval(value)} at {rtt(row)} ms" for row, value in known) + ".",
        Axis("RTT p95 [ms]", from_zero=True),
        Axis(label, from_zero=True),
        marks,
    )


def _shares(shared: Sequence[Row]) -> Figure:
    kept = [(row, row.share.kept.scaled(100)) for row in shared if row.share]
    marks: list[Mark] = [_bar(row, value, False) for row, value in kept]
    return Figure(
        "What a competing CUBIC flow retains",
        "Relative to its goodput beside another CUBIC flow on the same path; 100 % is as fair as CUBIC.",
        "; ".join(f"beside {row.name} {interval(value, digits=0)} %" for row, value in kept) + ".",
        Axis("CUBIC retains [%]", from_zero=True),
        Axis("", categories=True),
        [*marks, Rule("as fair as CUBIC", [100.0], [])],
        height=120 + 26 * len(kept),
    )


def _around(advice: Advice) -> Figure:
    losses, factors, by_place = plane(advice.around)
    best = [[by_place[factor, loss] for loss in losses] for factor in factors]
    behind = [[0.0 if c.now_behind is None else 100 * c.now_behind.mean for c in row] for row in best]
    labels = [percent_lost(loss) for loss in losses]
    rtts = [propagation(advice, factor) for factor in factors]
    mark = Heat(
        "best",
        labels,
        rtts,
        z=behind,
        z_label=f"{advice.now} behind [%]",
        texts=[[f"{c.best}{f' ≈ {len(c.tied)}' if c.tied else ''}" for c in row] for row in best],
        winners=[[c.best for c in row] for row in best],
    )
    own = advice.around[0]
    told = "; ".join(f"{percent_lost(c.loss)} lost, × {c.delay_factor:g}: {c.best}" for c in advice.around)
    return Figure(
        "The best scheme on similar paths",
        f"The path itself loses {percent_lost(own.loss)} of full packets in the forward direction and takes"
        f" {propagation(advice)}. ≈: number of schemes statistically tied with the"
        f" best. Point at a cell to see how far {advice.now} is behind.",
        f"{told}.",
        Axis("packet loss of the link", categories=True),
        Axis("round-trip propagation", categories=True),
        [mark],
        height=300,
    )


def _repeat(advice: Advice) -> Iterator[Block]:
    yield Facts(
        {
            "airtcp": advice.airtcp,
            "first seed": str(advice.seed),
            "simulated time": f"{advice.duration_s:g} s per run",
            "under control": ", ".join(advice.control) or "everything",
            "in use": advice.now,
        }
    )
    if advice.command:
        yield Source("Command", advice.command, "command.txt", folded=False)
    yield Source("Scenario, with every default written out", advice.scenario_toml, "scenario.toml")


def _bar(row: Row, value: Estimate, strong: bool) -> Bars:
    errors = [] if value.half_width is None else [value.half_width]
    return Bars(
        row.name, [value.mean], [row.name], scheme=row.name, errors=errors, horizontal=True, strong=strong
    )


def _drawn(advice: Advice) -> list[Row]:
    """Returns the best, the current scheme, and those that the text names."""
    found = advice.recommendation
    spoken = {advice.now} | ({found.use, found.gentler, found.swifter} if found else set())
    return [row for place, row in enumerate(advice.rows) if place < MOST_ROWS or row.name in spoken]


def _schemes(advice: Advice, drawn: Sequence[Row]) -> list[str]:
    """Returns the schemes with the recommended and the current one first: they get the clearest colours."""
    use = [advice.recommendation.use] if advice.recommendation else []
    best = [cell.best for cell in advice.around]
    return list(dict.fromkeys([*use, advice.now, *(row.name for row in drawn), *best]))
