"""`airtcp paper cross`: what it does; its options are in `paper`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from airtcp._engine import ScenarioError
from airtcp.cli.console import plain_console, watched, write_json
from airtcp.cli.errors import INTERRUPTED, InputError, check_outputs, writing
from airtcp.cli.reproduce import make_folders, save_figure
from airtcp.figures.style import style
from airtcp.papers.cross import SEEDS, Cross, Plan, all_paths, all_schemes, cross
from airtcp.papers.cross_page import COLUMNS, CrossPlot, detail, matrix, page
from airtcp.papers.frame import words
from airtcp.papers.frame.context import QUICK_SEEDS, Context
from airtcp.papers.frame.find import unknown
from airtcp.results import to_json


@dataclass(frozen=True)
class Request:
    """What was asked for: the options of `airtcp paper cross`."""

    links: Sequence[str]
    schemes: str | None
    duration: str | None
    seeds: int | None
    quick: bool
    jobs: int | None
    out: Path
    json: str | None
    docs: Path | None


def run_cross(request: Request) -> None:
    plan = _plan(request)
    make_folders(request.out, request.docs)
    check_outputs(None, request.json)
    console = plain_console(stderr=request.json == "-")
    seeds = request.seeds or (QUICK_SEEDS if request.quick else SEEDS)
    try:
        with watched("cross") as watcher:
            found = cross(plan, Context(seeds, request.quick, request.seeds, request.jobs, watcher))
    except ScenarioError as error:
        raise InputError(str(error)) from error
    except KeyboardInterrupt:
        console.print("Interrupted: a part of the table would compare nothing.")
        raise typer.Exit(INTERRUPTED) from None
    _show(console, found)
    _write(request, found)
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
        console.print(_table(COLUMNS, detail(link)))
    console.print("All together", style="bold")
    console.print(_table(*matrix(found)))
    if found["quick"]:
        console.print(words.QUICK)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        # A link is called by its paper, too: on two lines, or the columns have no room.
        title = column.replace("/", "/\n")
        table.add_column(title, justify="right" if place else "left", no_wrap=place == 0, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _write(request: Request, found: Cross) -> None:
    text = to_json(found)
    with style():
        save_figure(CrossPlot(found).draw(), request.out, request.docs, "cross")
    write_json(text, request.json)
    with writing(request.out):
        (request.out / "cross.json").write_text(text, encoding="utf-8")
    if request.docs:
        with writing(request.docs):
            (request.docs / "cross.md").write_text(page(found), encoding="utf-8")
