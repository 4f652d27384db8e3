"""Results in a notebook: HTML that is readable on light and dark backgrounds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from html import escape

from airtcp.facts.scenario import headline
from airtcp.results.comparison import Comparison
from airtcp.results.one_run import RunResult
from airtcp.results.side_by_side import SideBySide
from airtcp.showing import standings
from airtcp.showing.comparison_table import cells, columns
from airtcp.showing.figures import draw_inline, figures_of
from airtcp.showing.pair_table import pair_columns
from airtcp.showing.terminal import text_of
from airtcp.sweep.result import SweepResult

_CELL = "white-space:nowrap;text-align:"


@singledispatch
def html_of(found: object) -> str:
    """Headline, table, verdict and figure."""
    raise TypeError(f"{type(found).__name__} has no HTML")


@html_of.register
def _(found: Comparison) -> str:
    """Table, verdict and figure."""
    parts = [_headline(*found.headline.split("\n"))]
    if found.runs:
        titles, rows = cells(found.summaries, columns(found.summaries), found.failed_schemes)
        parts.append(_table(titles, rows, [row[0] in found.best for row in rows]))
    parts += [_note(note) for note in found.notes]
    if found.runs:
        parts.append(draw_inline(figures_of(found)))
    return _box(parts)


@html_of.register
def _(found: SideBySide) -> str:
    """Table, verdict and figure."""
    parts = [_headline(*found.headline.split("\n"))]
    if found.rows:
        titles, rows = cells(found.rows, pair_columns(found.rows))
        parts.append(_table(titles, rows, [False for _ in rows]))
    parts += [_note(note) for note in found.notes]
    if found.agreement:
        parts.append(draw_inline(figures_of(found)))
    return _box(parts)


@html_of.register
def _(found: RunResult) -> str:
    """Flows, links, and the window."""
    title, *lines = text_of(found).split("\n")
    parts = [_headline(title), f"<pre>{escape(chr(10).join(lines))}</pre>"]
    if found.time_series:
        parts.append(draw_inline(figures_of(found)))
    return _box(parts)


@html_of.register
def _(found: SweepResult) -> str:
    """Standings, verdict and figure."""
    parts = [_headline(*headline(found.scenario).split("\n"), found.plan.size)]
    if found.judged.judged:
        titles, rows = standings.cells(found.plan, found.judged)
        best = max(row.wins for row in found.judged.standings)
        parts.append(_table(titles, rows, [0 < best == row.wins for row in found.judged.standings]))
        parts.append(draw_inline(figures_of(found)))
    if found.verdict:
        parts.insert(2, f"<p>{escape(found.verdict)}</p>")
    return _box(parts)


def _headline(title: str, *rest: str) -> str:
    return "<br>".join([f"<b>{escape(title)}</b>", *map(escape, rest)])


def _note(text: str) -> str:
    return f'<p style="white-space:pre-wrap">{escape(text)}</p>'


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], bold: Sequence[bool]) -> str:
    """All columns but the first contain numbers."""
    head = _row("th", [escape(title).replace("\n", "<br>") for title in titles])
    body = "".join(
        _row("td", [f"<b>{escape(cell)}</b>" if stands_out else escape(cell) for cell in row])
        for row, stands_out in zip(rows, bold, strict=True)
    )
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _row(tag: str, cells: Sequence[str]) -> str:
    first, *numbers = cells
    right = "".join(f'<{tag} style="{_CELL}right">{number}</{tag}>' for number in numbers)
    return f'<tr><{tag} style="{_CELL}left">{first}</{tag}>{right}</tr>'


def _box(parts: Sequence[str]) -> str:
    return f"<div>{''.join(parts)}</div>"
