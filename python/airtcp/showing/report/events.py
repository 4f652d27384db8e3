"""The marks of a sequence–time figure, as far as there is room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from airtcp.showing.report.figure import Dots, Part, Symbol

MOST_MARKS = 6000
"""Limit per kind and scheme of a page. With seven schemes and all kinds, that is 4 MB."""


@dataclass(frozen=True)
class Kind:
    """A kind of events, and how it looks."""

    name: str
    symbol: Symbol
    of: pl.Expr


KINDS = (
    Kind(
        "retransmission", "triangle-up-open", pl.col("kind").is_in(["retransmit", "fast-retransmit", "probe"])
    ),
    Kind("timeout", "star", pl.col("kind") == "timeout"),
    Kind("duplicate ACKs", "line-ns", pl.col("kind") == "duplicate-ack"),
    Kind("lost: corruption", "x-thin", (pl.col("kind") == "loss") & (pl.col("cause") == "corruption")),
    Kind(
        "lost: congestion",
        "square-open",
        (pl.col("kind") == "loss") & pl.col("cause").is_in(["overflow", "aqm"]),
    ),
    Kind("lost: outage", "diamond", (pl.col("kind") == "loss") & (pl.col("cause") == "outage")),
)


class Marks:
    """The marks of one figure; reports afterwards which it left out."""

    def __init__(self) -> None:
        self.dots: list[Dots] = []
        self._left_out: list[str] = []

    def add(self, scheme: str, events: pl.DataFrame, scale: float) -> None:
        """Adds `events` of one flow of `scheme`; positions are divided by `scale`."""
        for kind in KINDS:
            rows = events.filter(kind.of)
            drawn = rows.gather_every(-(-rows.height // MOST_MARKS)) if rows.height > MOST_MARKS else rows
            if drawn.height < rows.height:
                self._left_out.append(f"{scheme}, {kind.name}: {drawn.height} of {rows.height}")
            if rows.height:
                self.dots.append(_dots(scheme, kind, drawn, scale))

    @property
    def parts(self) -> list[Part]:
        """The kinds that occur."""
        present = {dots.part for dots in self.dots}
        return [Part(kind.name, kind.symbol) for kind in KINDS if kind.name in present]

    def said(self) -> str:
        """Returns text for the caption: what the marks are, and what is left out."""
        text = (
            "Losses are marked when the packet was lost, which only a simulator knows; retransmissions and "
            "timeouts, when the sender resent; duplicate ACKs, at the sequence number they acknowledge, "
            "combined over each sampling interval."
        )
        if not self._left_out:
            return f"{text} All events are in the data."
        return f"{text} Too many to show all; a sample is drawn: {'; '.join(self._left_out)}."


def counts(events: pl.DataFrame) -> Mapping[str, int]:
    """Returns the number of events of each kind; duplicate ACKs are counted one by one."""
    return {kind.name: int(events.filter(kind.of)["count"].sum()) for kind in KINDS}


def _dots(scheme: str, kind: Kind, rows: pl.DataFrame, scale: float) -> Dots:
    notes = list(_notes(rows))
    return Dots(
        f"{scheme}, {kind.name}",
        rows["time_s"].to_list(),
        (rows["offset_bytes"] / scale).to_list(),
        scheme=scheme,
        part=kind.name,
        symbol=kind.symbol,
        notes=notes if len(set(notes)) > 1 else [],
        size=10 if kind.name == "timeout" else 7,
    )


def _notes(rows: pl.DataFrame) -> Iterator[str]:
    """Yields what each mark is, if its kind does not say it."""
    for kind, cause, count in rows.select("kind", "cause", "count").iter_rows():
        yield f"{count} duplicate ACKs" if count > 1 else cause or kind
