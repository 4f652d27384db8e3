"""Does what `airtcp advise` asks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.padding import Padding

from airtcp._engine import ScenarioError
from airtcp.advise.advice import Advice
from airtcp.advise.ask import advise
from airtcp.advise.asked import Control, Traffic
from airtcp.advise.table import print_rows
from airtcp.cli.errors import InputError, writing
from airtcp.cli.options import Request
from airtcp.results.document import to_json
from airtcp.running.progress import watched


def advised(
    request: Request,
    controls: Sequence[Control],
    now: str,
    carried: Traffic | None,
    quick: bool,
    seeds: int | None,
    keep_duration: bool,
    jobs: int | None,
    again: str,
) -> Advice:
    """Answers the question; `again` repeats it. Raises InputError."""
    try:
        with watched("advise") as watcher:
            return advise(
                request.scenario,
                control=controls,
                now=now,
                traffic=carried,
                quick=quick,
                seeds=seeds,
                keep_duration=keep_duration,
                written=request.written,
                controllers=request.controllers,
                command=again,
                jobs=jobs,
                watcher=watcher,
            )
    except (ScenarioError, ValueError) as error:
        raise InputError(str(error)) from error


def show(console: Console, found: Advice) -> None:
    """Prints the whole answer on a terminal."""
    if found.rows:
        print_rows(console, found)
    for paragraph in found.text:
        console.print(paragraph.title, style="bold")
        console.print(Padding(paragraph.text, (0, 0, 1, 2), expand=False))
    console.print(f"Reproduce: {found.command}")


def save(found: Advice, directory: Path) -> None:
    """Writes the answer as data. Raises InputError."""
    with writing(directory):
        (directory / "advice.json").write_text(to_json(found), encoding="utf-8")


def draw(found: Advice, directory: Path) -> None:
    """Draws its figures. Raises InputError."""
    # Matplotlib is slow to import and is needed only at the end.
    from airtcp.advise.figures import draw_all  # noqa: PLC0415

    with writing(directory):
        draw_all(found, directory)
