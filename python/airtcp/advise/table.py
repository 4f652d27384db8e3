"""Prints the candidates as a table that fits the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console

from airtcp.advise.advice import Advice, Row
from airtcp.facts.numbers import NONE, interval, milliseconds
from airtcp.facts.stats import Estimate
from airtcp.facts.units import rate_scale
from airtcp.showing.table import Heading, print_fitted

STAGE_WORDS = {
    "default": "nothing",
    "setting": "a setting",
    "software": "exists",
    "build": "exists, to be built",
    "unwritten": "no implementation",
    "history": "–",
}


@dataclass(frozen=True)
class Column:
    """One column. `rank` is that of its heading: if room is short, the highest is left out first."""

    title: str
    unit: str
    rank: int
    cell: Callable[[Row], str]
    has_words: bool = False


def columns(advice: Advice) -> list[Column]:
    return [
        _objective(advice),
        Column(f"vs {advice.now}"[:14], "%", 1, lambda row: _share(row.gain, signed=True)),
        Column("RTT p95", "ms", 2, rtt),
        Column(
            "share a competing",
            "CUBIC retains, %",
            3,
            lambda row: _share(row.share.kept if row.share else None),
        ),
        Column("runs", "", 6, lambda row: str(len(row.summary.seeds))),
        Column("at", "", 4, lambda row: ", ".join(row.needs.places), has_words=True),
        Column("needs", "", 5, lambda row: STAGE_WORDS[row.needs.stage], has_words=True),
    ]


def cells(rows: Sequence[Row], shown: Sequence[Column]) -> list[list[str]]:
    return [[row.name, *(column.cell(row) for column in shown)] for row in rows]


def parted(advice: Advice) -> tuple[list[Row], list[Row]]:
    """Splits the rows: those down to the current scheme or named in the answer, and the others."""
    place = next((place for place, row in enumerate(advice.rows) if row.name == advice.now), -1)
    named = advice.recommendation.named if advice.recommendation else ()
    shown = [row for at, row in enumerate(advice.rows) if at <= place or row.name in named]
    return shown, [row for row in advice.rows if row not in shown]


def print_rows(console: Console, advice: Advice) -> None:
    """Prints what is at least as good as the current scheme, as far as it fits, and names the rest."""
    shown = columns(advice)
    rows, below = parted(advice)
    use = advice.recommendation.use if advice.recommendation else None
    styles = ["bold" if row.name == use else "" if row.standing != "behind" else "dim" for row in rows]
    print_fitted(console, _headings(shown), cells(rows, shown), styles)
    if any(row.gain is None and row.name != advice.now for row in rows):
        console.print(f"{NONE} against {advice.now}: ran on fewer seeds, so its gain cannot be compared.")
    if below:
        console.print(f"No better than {advice.now}: {', '.join(row.name for row in below)}.")


def reached_by(advice: Advice, rows: Sequence[Row]) -> tuple[list[Estimate], str]:
    """Returns goodput or completion time of each, and the axis label."""
    if advice.objective == "completion time":
        return [row.reached for row in rows], "completion time [s]"
    scale, unit = rate_scale([row.reached.mean for row in rows])
    return [row.reached.scaled(1 / scale) for row in rows], f"goodput [{unit}]"


def rtt(row: Row) -> str:
    return milliseconds(row.rtt_p95_ms)


def _headings(shown: Sequence[Column]) -> list[Heading]:
    found = [
        Heading(f"{column.title}\n{column.unit}", column.rank, "words" if column.has_words else "number")
        for column in shown
    ]
    return [Heading("\nscheme", kind="words"), *found]


def _objective(advice: Advice) -> Column:
    if advice.objective == "completion time":
        return Column("completion", "mean s", 0, lambda row: interval(row.reached))
    scale, unit = rate_scale([row.reached.mean for row in advice.rows])
    return Column("goodput", unit, 0, lambda row: interval(row.reached.scaled(1 / scale)))


def _share(value: Estimate | None, *, signed: bool = False) -> str:
    return NONE if value is None else interval(value.scaled(100), signed=signed, digits=1)
