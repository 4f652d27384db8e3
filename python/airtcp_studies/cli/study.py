"""Shared parts of `airtcp paper air`, `cross` and `concord`: options, execution, and output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import typer
from matplotlib.figure import Figure
from rich.console import Console

from airtcp._engine import ScenarioError
from airtcp.cli.console import plain_console, write_json
from airtcp.cli.errors import INTERRUPTED, InputError, check_outputs, writing
from airtcp.results.document import to_json
from airtcp.running.progress import watched
from airtcp.showing.figures.style import style
from airtcp_studies.cli.reproduce import make_folders, save_figure
from airtcp_studies.frame.context import QUICK_SEEDS, Context

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class StudyRequest:
    """The options that all have."""

    seeds: int | None
    quick: bool
    jobs: int | None
    out: Path
    json: str | None
    docs: Path | None

    @property
    def console(self) -> Console:
        return plain_console(stderr=self.json == "-")


def run_study(
    name: str, request: StudyRequest, seeds: int, work: Callable[[Context], T], if_interrupted: str
) -> T:
    """Does `work` with `seeds`, unless the user asks for others. An interrupted study shows nothing."""
    make_folders(request.out, request.docs)
    check_outputs(None, request.json)
    count = request.seeds or (QUICK_SEEDS if request.quick else seeds)
    try:
        with watched(name) as watcher:
            return work(Context(count, request.quick, request.seeds, request.jobs, watcher))
    except ScenarioError as error:
        raise InputError(str(error)) from error
    except KeyboardInterrupt:
        request.console.print(f"Interrupted: {if_interrupted}.")
        raise typer.Exit(INTERRUPTED) from None


def write_study(
    name: str, request: StudyRequest, found: object, draw: Callable[[], Figure], page: Callable[[], str]
) -> None:
    """Writes the figure and `found` as JSON to the results folder, and both with the page to the docs."""
    with style():
        save_figure(draw(), request.out, request.docs, name)
    write_json(found, request.json)
    with writing(request.out):
        (request.out / f"{name}.json").write_text(to_json(found), encoding="utf-8")
    if request.docs:
        with writing(request.docs):
            (request.docs / f"{name}.json").write_text(to_json(found), encoding="utf-8")
            (request.docs / f"{name}.md").write_text(page(), encoding="utf-8")
