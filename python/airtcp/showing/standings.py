"""The schemes' standings over all points, as rows of text."""

from __future__ import annotations

from io import StringIO

from rich import box
from rich.console import Console
from rich.table import Table

from airtcp.facts.numbers import percent
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


def table(plan: Plan, summary: Summary) -> Table:
    titles, rows = cells(plan, summary)
    found = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    found.add_column(titles[0], no_wrap=True)
    for title in titles[1:]:
        found.add_column(title, justify="right", overflow="fold")
    for row in rows:
        found.add_row(*row)
    return found


def as_text(plan: Plan, summary: Summary) -> str:
    """Returns the table without colours, as wide as the terminal."""
    console = Console(file=StringIO(), color_system=None, highlight=False, emoji=False, markup=False)
    with console.capture() as captured:
        console.print(table(plan, summary))
    return captured.get().rstrip("\n")


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
