"""How far it is, where a person watches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from airtcp.watching import Watcher


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


@contextmanager
def watched(name: str) -> Iterator[Watcher]:
    """A progress bar called `name`; in a notebook, where Rich would need a widget, a line."""
    if Console().is_jupyter:
        yield _Line(name)
        return
    with progress_bar() as bar:
        yield _Bar(bar, bar.add_task(name, total=None), name)


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


@dataclass
class _Line:
    """Writes over itself."""

    name: str
    total: int = 0
    count: int = 0

    def expect(self, runs: int) -> None:
        self.total += runs

    def done(self, label: str) -> None:
        self.count += 1
        end = "\n" if self.count == self.total else ""
        sys.stderr.write(f"\r{self.name} {self.count} of {self.total}: {label}".ljust(72) + end)
        sys.stderr.flush()
