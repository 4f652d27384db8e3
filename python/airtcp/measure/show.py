"""Shows a measurement's progress: a live table, or without a terminal a line per phase."""

from __future__ import annotations

import math
import time
from itertools import islice

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from airtcp.measure.book import Book, Row, row
from airtcp.showing.table import Heading, fitted

EACH_S = 0.25
MOST_SHOWN = 12_000
"""Latest probes shown: ten minutes of slow ones."""
PATIENCE = 20
"""The display rests for at least this multiple of the time that it took to draw."""
SETTLED_NS = 2_000_000_000
"""A probe unanswered for this long counts as lost."""


class LiveTable:
    """A live table with a row per size."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=False)
        self._title, self._of_s, self._began_s, self._next_s = "", 0.0, 0.0, 0.0

    def __enter__(self) -> LiveTable:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def phase(self, title: str, of_s: float | None = None) -> None:
        self._title, self._of_s, self._began_s, self._next_s = title, of_s or 0.0, time.monotonic(), 0.0
        if self._console.is_terminal:
            self._live.update(Text(title), refresh=True)
        elif of_s is not None:
            self._console.print(f"{title}: {of_s:.0f} s")
        elif not title.startswith("train "):
            self._console.print(title)

    def note(self, text: str) -> None:
        self._console.print(f"Note: {text}")

    def update(self, book: Book) -> None:
        now_s = time.monotonic()
        if now_s < self._next_s or not self._console.is_terminal:
            return
        elapsed_s = now_s - self._began_s
        of = f" of {self._of_s:.0f}" if self._of_s else ""
        title = f"{self._title}: {elapsed_s:.0f}{of} s   Ctrl-C keeps the results so far"
        self._live.update(
            Group(Text(title), table(book, time.time_ns() - SETTLED_NS, self._console.width)), refresh=True
        )
        # A long table takes time, which the probes need.
        self._next_s = now_s + max(EACH_S, PATIENCE * (time.monotonic() - now_s))


HEADINGS = (
    Heading("packet"),
    Heading("sent", 1),
    Heading("lost"),
    Heading("there", 4),
    Heading("back", 3),
    Heading("rtt min", 2),
    Heading("median"),
    Heading("p95 [ms]"),
    Heading("the latest", 5),
)


def table(book: Book, settled_ns: int, width: int) -> Table:
    """Returns the table of what is known so far, as far as it fits."""
    latest = list(islice(reversed(book.probes.values()), MOST_SHOWN))[::-1]
    sizes = dict.fromkeys(probe.ip_bytes for probe in latest)
    found = (row([probe for probe in latest if probe.ip_bytes == size], settled_ns) for size in sizes)
    return fitted(HEADINGS, [cells(each) for each in found if each is not None], width).table


def cells(found: Row) -> list[str]:
    """Returns the row's cells."""
    share = f"{found.lost / found.sent:.1%}"
    ways = (str(found.lost_there), str(found.lost_back)) if found.lost_there or found.lost_back else ("", "")
    times = ["–" if math.isnan(ms) else f"{ms:.1f}" for ms in (found.least_ms, found.middle_ms, found.p95_ms)]
    return [f"{found.ip_bytes} B", str(found.sent), f"{found.lost} ({share})", *ways, *times, found.line]
