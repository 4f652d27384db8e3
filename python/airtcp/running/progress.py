"""Shows progress on a terminal or in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from airtcp.running.watching import Watcher

EVERY_S = 30.0
"""Time between lines in a log."""


def progress_bar(left: ProgressColumn | None = None) -> Progress:
    """Returns a bar on standard error, shown only on a terminal; `left` displays the remaining time."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        left or TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


@contextmanager
def watched(name: str, run_s: float | None = None) -> Iterator[Watcher]:
    """Returns a progress bar called `name`; in a notebook, where Rich would need a widget, a line.

    `run_s`: the duration of a run, if known in advance.
    """
    if Console().is_jupyter:
        yield _Line(name)
        return
    if not Console(stderr=True).is_terminal:
        yield _Now(name)
        return
    with progress_bar(None if run_s is None else RealTimeLeft(run_s)) as bar:
        yield _Bar(bar, bar.add_task(name, total=None), name)


class RealTimeLeft(ProgressColumn):
    """The remaining time if all runs take `run_s`, which is known before the first has ended."""

    def __init__(self, run_s: float) -> None:
        super().__init__()
        self._run_s = run_s

    def render(self, task: Task) -> Text:
        """Returns hours, minutes and seconds."""
        left_s = max(0.0, (task.total or 0) * self._run_s - (task.elapsed or 0.0))
        return Text(str(timedelta(seconds=round(left_s))), style="progress.remaining")


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
class _Now:
    """Without a terminal, prints a line now and then."""

    name: str
    total: int = 0
    count: int = 0
    said_s: float = field(default_factory=monotonic)

    def expect(self, runs: int) -> None:
        self.total += runs

    def done(self, label: str) -> None:  # noqa: ARG002
        self.count += 1
        if monotonic() > self.said_s + EVERY_S:
            self.said_s = monotonic()
            print(f"{self.name}: {self.count} of {self.total} runs", file=sys.stderr, flush=True)


@dataclass
class _Line:
    """A line that overwrites itself."""

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
