"""Tables that fit a terminal.

Numbers are never cut. If room is short, titles and names are broken, and then the least important columns
are left out, which is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from airtcp.showing.wrapping import AT_SPACES, wrapped

NAME_LEAST = 24
"""Columns of the terminal that a column of words keeps as long as another column can be left out."""
WORDS_LEAST = 8
"""What it keeps at least. A terminal that is narrower still breaks the lines itself."""
BETWEEN = 3
"""Columns of the terminal between two cells."""
EDGES = 2


@dataclass(frozen=True)
class Heading:
    """The title of a column. `rank`: if room is short, the highest is left out first, and 0 never.

    Words are aligned left, and are broken if room is short; numbers are not.
    """

    title: str
    rank: int = 0
    kind: Literal["number", "words"] = "number"

    @property
    def said(self) -> str:
        """The title in one line."""
        return " ".join(self.title.split())


@dataclass(frozen=True)
class Fitted:
    """A table that fits, and the titles of the columns that it has no room for."""

    table: Table
    omitted: Sequence[str]


@dataclass(frozen=True)
class _Column:
    heading: Heading
    cells: Sequence[str]

    @property
    def widest(self) -> int:
        """The width at which nothing is broken."""
        return max(cell_len(line) for text in (self.heading.title, *self.cells) for line in text.split("\n"))

    def least(self, words: int) -> int:
        """The width below which a number would be cut, or `words` for a column of words."""
        if self.heading.kind == "words":
            return min(self.widest, words)
        numbers = max((cell_len(cell) for cell in self.cells), default=0)
        return max(numbers, *map(cell_len, self.heading.title.split()), 0)


def fitted(
    headings: Sequence[Heading],
    rows: Sequence[Sequence[str]],
    width: int,
    styles: Sequence[str] = (),
) -> Fitted:
    """Lays out the table in `width` columns of a terminal. `styles` has Rich's style of each row."""
    shown = [_Column(heading, [row[place] for row in rows]) for place, heading in enumerate(headings)]
    omitted = list[str]()
    while _needed(shown, NAME_LEAST) > width and any(column.heading.rank for column in shown):
        last = max(shown, key=lambda column: column.heading.rank)
        shown.remove(last)
        omitted.append(last.heading.said)
    return Fitted(_drawn(shown, _widths(shown, width), styles, len(rows)), omitted)


def print_fitted(
    console: Console,
    headings: Sequence[Heading],
    rows: Sequence[Sequence[str]],
    styles: Sequence[str] = (),
) -> None:
    """Prints what fits, and names what does not."""
    found = fitted(headings, rows, console.width, styles)
    console.print(found.table, crop=False)
    if found.omitted:
        console.print(f"Omitted for lack of space: {', '.join(found.omitted)}.")


def as_text(headings: Sequence[Heading], rows: Sequence[Sequence[str]]) -> str:
    """Returns what `print_fitted` prints, without colours, as wide as the terminal."""
    console = Console(
        file=StringIO(), color_system=None, force_jupyter=False, highlight=False, emoji=False, markup=False
    )
    with console.capture() as captured:
        print_fitted(console, headings, rows)
    return captured.get().rstrip("\n")


def _needed(columns: Sequence[_Column], words: int) -> int:
    return _whole(column.least(words) for column in columns)


def _whole(widths: Iterable[int]) -> int:
    each = list(widths)
    return sum(each) + BETWEEN * (len(each) - 1) + EDGES


def _widths(columns: Sequence[_Column], width: int) -> list[int]:
    """Shares the room: numbers have theirs, then the columns in their order what they would like."""
    words = NAME_LEAST if _needed(columns, NAME_LEAST) <= width else WORDS_LEAST
    found = [column.least(words) for column in columns]
    spare = width - _whole(found)
    for place, column in enumerate(columns):
        more = max(0, min(column.widest - found[place], spare))
        found[place] += more
        spare -= more
    return found


def _drawn(columns: Sequence[_Column], widths: Sequence[int], styles: Sequence[str], rows: int) -> Table:
    titles = [
        wrapped(column.heading.title, width, AT_SPACES) for column, width in zip(columns, widths, strict=True)
    ]
    high = max(map(len, titles))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, width=_whole(widths))
    for column, title, width in zip(columns, titles, widths, strict=True):
        # Titles stand on the line below them.
        text = "\n".join([*[""] * (high - len(title)), *title])
        side: Literal["left", "right"] = "left" if column.heading.kind == "words" else "right"
        table.add_column(text, justify=side, no_wrap=True, overflow="fold", width=width)
    for place in range(rows):
        style = styles[place] if styles else ""
        cells = (
            wrapped(column.cells[place], width) if column.heading.kind == "words" else [column.cells[place]]
            for column, width in zip(columns, widths, strict=True)
        )
        table.add_row(*(Text("\n".join(cell), style) for cell in cells))
    return table
