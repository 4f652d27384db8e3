"""The schemes' standings over all points, as rows of text."""

from __future__ import annotations

from rich.console import Console

from airtcp.facts.numbers import percent
from airtcp.showing import table
from airtcp.showing.table import Heading
from airtcp.sweep.plan import Plan
from airtcp.sweep.summary import Standing, Summary


def cells(plan: Plan, summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Returns the titles, and a row per scheme."""
    titles = [
        "scheme\n",
        "best at\npoints",
        "tied at\npoints",
        f"{summary.goal.name}\nmean % of the best",
        "at worst\n%",
        "where\n",
    ]
    return titles, [_row(plan, standing) for standing in summary.standings]


def print_standings(console: Console, plan: Plan, summary: Summary) -> None:
    titles, rows = cells(plan, summary)
    table.print_fitted(console, _headings(titles), rows)


def as_text(plan: Plan, summary: Summary) -> str:
    """Returns the table without colours, as wide as the terminal."""
    titles, rows = cells(plan, summary)
    return table.as_text(_headings(titles), rows)


def _headings(titles: list[str]) -> list[Heading]:
    scheme, *counts, where = titles
    ranks = (0, 2, 0, 1)
    numbers = (Heading(title, rank) for title, rank in zip(counts, ranks, strict=True))
    return [Heading(scheme, kind="words"), *numbers, Heading(where, 3, "words")]


def _row(plan: Plan, standing: Standing) -> list[str]:
    values = () if standing.worst_point is None else plan.points[standing.worst_point - 1].values
    return [
        standing.scheme,
        str(standing.wins),
        str(standing.ties),
        percent(standing.mean_share),
        percent(standing.worst_share),
        ", ".join(value.text for value in values),
    ]
