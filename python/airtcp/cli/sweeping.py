"""Does what `airtcp sweep` asks for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from rich.console import Console

from airtcp._engine import Scenario
from airtcp.asking.sweep import collect
from airtcp.cli.errors import InputError, writing
from airtcp.facts.scenario import headline
from airtcp.running.cost import time_text
from airtcp.running.executors import ExecutorError
from airtcp.running.progress import progress_bar
from airtcp.showing.standings import print_standings
from airtcp.sweep.errors import SweepError
from airtcp.sweep.grammar import Vary
from airtcp.sweep.result import SweepResult
from airtcp.sweep.run import Job, Progress, prepare

SHOWN_POINTS = 10
SHOWN_ERRORS = 3
ESTIMATE_AFTER_S = 3.0


def prepared(scenario: Scenario, varies: Sequence[Vary], lhs: int | None, sample_seed: int) -> Job:
    """Plans the sweep and checks its points. Raises InputError."""
    with _refusing():
        return prepare(scenario, varies, lhs=lhs, sample_seed=sample_seed)


def say_plan(console: Console, job: Job) -> None:
    """Prints what varies, and the number of runs."""
    console.print(headline(job.scenario))
    for axis in job.plan.axes:
        names = ", ".join([*axis.keys, *axis.scheme_keys])
        console.print(f"{names} = {axis.spec}")
    sample = " of a Latin hypercube" if job.plan.hypercube else ""
    console.print(job.plan.size.replace(" ×", f"{sample} ×", 1))


def say_points(console: Console, job: Job) -> None:
    """Prints the first points."""
    for point in job.plan.points[:SHOWN_POINTS]:
        console.print(job.plan.describe(point))
    more = len(job.plan.points) - SHOWN_POINTS
    if more > 0:
        console.print(f"… and {more} more points")
    console.print("All points are valid. Nothing was run or written.")


def collected(
    console: Console, job: Job, directory: Path, *, fresh: bool, jobs: int | None, executor: str
) -> SweepResult:
    """Makes the runs that `directory` does not have yet. Raises InputError."""
    with _refusing(), writing(directory), _watched(console, directory) as on_progress:
        return collect(
            job, directory=directory, fresh=fresh, jobs=jobs, executor=executor, on_progress=on_progress
        )


def show(console: Console, found: SweepResult) -> None:
    """Prints how often each scheme is best, the verdict, and the first errors."""
    print_standings(console, found.plan, found.judged)
    if found.verdict:
        console.print(found.verdict)
    failed = found.frame["error"].count()
    if failed:
        console.print(f"{failed} of {found.frame.height} runs failed:")
        for text in found.errors[:SHOWN_ERRORS]:
            console.print(f"  {text}")


@contextmanager
def _refusing() -> Iterator[None]:
    """Turns the errors of a sweep into an InputError."""
    try:
        yield
    except (SweepError, ExecutorError) as error:
        raise InputError(str(error)) from error


class _Clock:
    """Estimates the remaining time from the progress since the first run."""

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None
        self._said = False

    def guess(self, progress: Progress) -> str | None:
        """Returns the estimate once, as soon as it can be made."""
        now_s = monotonic()
        if self._first is None:
            self._first = now_s, progress.done
        elapsed_s, done = now_s - self._first[0], progress.done - self._first[1]
        if self._said or not done or elapsed_s < ESTIMATE_AFTER_S or progress.done == progress.total:
            return None
        self._said = True
        return f"about {time_text(elapsed_s / done * (progress.total - progress.done))} to go"


@contextmanager
def _watched(console: Console, directory: Path) -> Iterator[Callable[[Progress], None]]:
    """Shows a bar on a terminal; elsewhere prints an estimate of the time once."""
    clock = _Clock()
    with progress_bar() as bar:
        task = bar.add_task("running", total=None)

        def on_progress(progress: Progress) -> None:
            bar.update(task, total=progress.total, completed=progress.done)
            if progress.done == progress.kept:
                if progress.kept:
                    console.print(f"{progress.kept} runs are already done, in {directory}/")
            elif bar.disable and (guess := clock.guess(progress)):
                print(guess, file=sys.stderr, flush=True)

        yield on_progress
