"""The table of a comparison: a scheme per line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from rich.console import Console

from airtcp.facts.numbers import NONE, interval, milliseconds, percent, seconds
from airtcp.facts.summary import SchemeSummary
from airtcp.facts.units import rate_scale
from airtcp.showing.table import Heading, print_fitted
from airtcp.showing.table import as_text as fitted_text

FAILED = "failed"
MAX_BASE = 12
"""Longest name of the base scheme in a column's title, in letters."""


class Row(Protocol):
    """A line of the table: something about a scheme."""

    @property
    def scheme(self) -> str: ...


R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Column(Generic[R]):
    """One column. `rank` is that of its heading: if room is short, the highest is left out first."""

    title: str
    unit: str
    rank: int
    cell: Callable[[R], str]


def columns(summaries: Sequence[SchemeSummary]) -> list[Column[SchemeSummary]]:
    """Returns the columns with content for these schemes."""
    scale, rate_unit = rate_scale([row.goodput.mean for row in summaries])
    found = [
        Column("goodput", rate_unit, 0, lambda row: interval(row.goodput.scaled(1 / scale))),
        Column("of bound", "%", 3, lambda row: percent(row.share_of_bound)),
        Column("resent", "%", 4, lambda row: percent(row.retransmitted, 2)),
        Column("timeouts per run", "(spurious)", 5, timeouts),
        Column("RTT p50 / p95", "ms", 4, rtt),
    ]
    if len(summaries) > 1:
        base = summaries[0].scheme
        title = f"vs {base}" if len(base) <= MAX_BASE else "vs first"
        found.insert(1, Column(title, "%", 2, gain))
    if any(row.jain is not None for row in summaries):
        found.append(Column("Jain", "index", 5, lambda row: NONE if row.jain is None else f"{row.jain:.3f}"))
    if any(row.completion for row in summaries):
        found.insert(0, Column("completion", "mean s", 1, completion))
        found.insert(1, Column("completion", "p95 s", 3, lambda row: seconds(row.completion_p95_s)))
    return found


def _failed_row(scheme: str, shown: Sequence[Column[R]]) -> list[str]:
    return [scheme, FAILED, *(NONE for _ in shown[1:])]


def cells(
    rows: Sequence[R], shown: Sequence[Column[R]], failed: Sequence[str] = ()
) -> tuple[list[str], list[list[str]]]:
    """Returns the titles of all columns, and the rows."""
    texts = [[row.scheme, *(column.cell(row) for column in shown)] for row in rows]
    texts += [_failed_row(scheme, shown) for scheme in failed]
    return ["scheme", *(f"{column.title}\n{column.unit}" for column in shown)], texts


def print_table(
    console: Console,
    rows: Sequence[R],
    wanted: Sequence[Column[R]],
    best: Sequence[str] = (),
    failed: Sequence[str] = (),
) -> None:
    """Prints the table. Schemes in `best` are emphasised; of those in `failed` it has only the name."""
    _, texts = cells(rows, wanted, failed)
    styles = ["bold" if text[0] in best else "" for text in texts]
    print_fitted(console, headings(wanted), texts, styles)


def as_text(rows: Sequence[R], shown: Sequence[Column[R]], failed: Sequence[str] = ()) -> str:
    """Returns what `print_table` prints, without colours, as wide as the terminal."""
    return fitted_text(headings(shown), cells(rows, shown, failed)[1])


def headings(shown: Sequence[Column[R]]) -> list[Heading]:
    return [
        Heading("scheme\n", kind="words"),
        *(Heading(f"{each.title}\n{each.unit}", each.rank) for each in shown),
    ]


def gain(row: SchemeSummary) -> str:
    return NONE if row.gain is None else interval(row.gain.scaled(100), signed=True, digits=1)


def timeouts(row: SchemeSummary) -> str:
    return f"{row.timeouts:.1f} ({row.spurious_timeouts:.1f})"


def rtt(row: SchemeSummary) -> str:
    return f"{milliseconds(row.rtt_p50_ms)} / {milliseconds(row.rtt_p95_ms)}"


def completion(row: SchemeSummary) -> str:
    return NONE if row.completion is None else interval(row.completion)
