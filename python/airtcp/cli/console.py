"""Where commands print."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from airtcp.cli.errors import writing
from airtcp.watching import Watcher

PLAIN_WIDTH = 160
"""Where there is no terminal to fit."""


def plain_console(*, stderr: bool = False) -> Console:
    """Colours and the terminal's width where a person watches; neither in a pipe or a file."""
    console = Console(stderr=stderr, highlight=False, emoji=False, markup=False, soft_wrap=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PLAIN_WIDTH
    return console


def write_json(text: str, where: str | None) -> None:
    """What `--json` asks for: a file, `-` for standard output, or nothing."""
    if where == "-":
        sys.stdout.write(text)
    elif where is not None:
        with writing(where):
            Path(where).write_text(text, encoding="utf-8")


def progress_bar() -> Progress:
    """On standard error, only where a person watches."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


@dataclass
class _Bar:
    """Shows the progress of one piece of work."""

    bar: Progress
    task: TaskID
    name: str
    total: int = 0

    def expect(self, runs: int) -> None:
        self.total += runs
        self.bar.update(self.task, total=self.total)

    def done(self, label: str) -> None:
        self.bar.update(self.task, advance=1, description=f"{self.name} {label}")


@contextmanager
def watched(name: str) -> Iterator[Watcher]:
    """A progress bar called `name`."""
    with progress_bar() as bar:
        yield _Bar(bar, bar.add_task(name, total=None), name)
