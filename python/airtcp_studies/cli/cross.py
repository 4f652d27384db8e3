"""Implements `airtcp paper cross`; its options are in `paper`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console

from airtcp.cli.errors import InputError
from airtcp.showing.table import Heading, print_fitted
from airtcp_studies.cli.study import StudyRequest, run_study, write_study
from airtcp_studies.cross import SEEDS, Cross, Plan, all_paths, all_schemes, cross
from airtcp_studies.cross_page import COLUMNS, CrossPlot, detail, matrix, page
from airtcp_studies.frame import words
from airtcp_studies.frame.find import unknown


@dataclass(frozen=True)
class Request(StudyRequest):
    """The options of `airtcp paper cross`."""

    links: Sequence[str]
    schemes: str | None
    duration: str | None


def run_cross(request: Request) -> None:
    plan = _plan(request)
    found = run_study(
        "cross", request, SEEDS, lambda ctx: cross(plan, ctx), "a partial table would compare nothing"
    )
    console = request.console
    _show(console, found)
    write_study("cross", request, found, CrossPlot(found).draw, lambda: page(found))
    console.print(f"Figure and data: {request.out}/")


def _plan(request: Request) -> Plan:
    paths: Mapping[str, str] = all_paths()
    for name in request.links:
        if name not in paths:
            raise InputError(str(unknown("link", name, list(paths))))
    names = [name.strip() for name in (request.schemes or "").split(",") if name.strip()]
    return Plan(
        paths={name: text for name, text in paths.items() if not request.links or name in request.links},
        schemes=names or all_schemes(),
        duration=request.duration or ("5s" if request.quick else Plan.duration),
    )


def _show(console: Console, found: Cross) -> None:
    for link in found["links"]:
        console.print(link["name"], style="bold")
        _print(console, COLUMNS, detail(link))
    console.print("All together", style="bold")
    _print(console, *matrix(found))
    if found["quick"]:
        console.print(words.QUICK)


def _print(console: Console, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    first, *others = columns
    # A link's name includes its paper: two lines save room for the columns.
    numbers = (Heading(title.replace("/", "/\n"), place) for place, title in enumerate(others))
    print_fitted(console, [Heading(first, kind="words"), *numbers], rows)
