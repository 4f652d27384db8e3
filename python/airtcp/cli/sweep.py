"""`airtcp sweep`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer
from rich.console import Console

from airtcp.asking.given import assumptions
from airtcp.asking.sweep import collect
from airtcp.cli.console import plain_console, write_json
from airtcp.cli.controllers import ControllerOption
from airtcp.cli.errors import INTERRUPTED, InputError, check_outputs, writing
from airtcp.cli.options import (
    DurationOption,
    JobsOption,
    JsonOption,
    ProfileOption,
    ReportOption,
    Request,
    ScenarioArgument,
    SchemesOption,
    SeedsOption,
    SetOption,
    default_directory,
    load,
)
from airtcp.facts.scenario import headline
from airtcp.running.cost import time_text
from airtcp.running.executors import ExecutorError
from airtcp.running.progress import progress_bar
from airtcp.showing.standings import table
from airtcp.sweep.errors import SweepError
from airtcp.sweep.grammar import parse_option
from airtcp.sweep.result import SweepResult
from airtcp.sweep.run import Job, Progress, prepare

EXAMPLES = """\b
Examples:
  airtcp sweep --vary wireless.loss.ber=1e-7..1e-5:log:12
  airtcp sweep my-link.toml --vary wireless.rate=1Mbit/s..50Mbit/s:log:6 --vary wireless.delay=10ms,40ms,160ms
  airtcp sweep --vary scheme.rto.min=200ms,1s --vary cubic.beta=0.5..0.9:lin:5 --schemes cubic,reno
  airtcp sweep --vary wireless.loss.packet=0.1%..5%:log --vary wireless.delay=5ms..300ms:log --lhs 100
  airtcp sweep --vary wireless.delay=5ms..300ms:log:50 --executor dask://scheduler:8786

\b
SPEC is a list (10ms,40ms), a range with a number of points (0.1%..5%:lin:5, 1e-7..1e-5:log:12), or both
(0,1e-7..1e-5:log:12). KEY is a scenario key, as for --set; KEY,KEY sets several keys to the same values;
scheme.KEY is a key of all schemes, NAME.KEY of those with the term NAME: see `airtcp schemes --keys`.
"""
SHOWN_POINTS = 10
SHOWN_ERRORS = 3
ESTIMATE_AFTER_S = 3.0


def command(
    scenario: ScenarioArgument = None,
    vary: Annotated[
        list[str] | None, typer.Option(metavar="KEY=SPEC", help="Key to vary, and its values.")
    ] = None,
    lhs: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Sample a Latin hypercube of N points over the ranges, instead of a grid.",
        ),
    ] = None,
    sample_seed: Annotated[int, typer.Option(help="Seed of the Latin hypercube.")] = 1,
    schemes: SchemesOption = None,
    controller: ControllerOption = None,
    changes: SetOption = None,
    seeds: SeedsOption = None,
    duration: DurationOption = None,
    profile: ProfileOption = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Directory for results.  [default: airtcp-out/NAME-sweep]"),
    ] = None,
    json: JsonOption = None,
    report: ReportOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Discard the runs stored in DIR.")] = False,
    jobs: JobsOption = None,
    executor: Annotated[
        str, typer.Option(metavar="WHERE", help="Where to run: threads, processes, or dask://HOST:PORT.")
    ] = "threads",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run, without running it.")
    ] = False,
) -> None:
    """Run schemes × seeds at every point of a parameter sweep, and report which scheme is best where.

    Prints how often each scheme is best; writes results.parquet (one row per run), sweep.json and figures.
    DIR keeps finished runs: if the sweep is interrupted or killed, the same command resumes it.
    """
    count = None if seeds is None else str(seeds)
    request = load(
        scenario, changes, controller, schemes=schemes, seeds=count, duration=duration, profile=profile
    )
    console = plain_console(stderr=json == "-")
    try:
        job = prepare(request.scenario, [*map(parse_option, vary or [])], lhs=lhs, sample_seed=sample_seed)
        directory = out or _default_directory(request)
        if not dry_run:
            check_outputs(directory, json, report)
        _say_plan(console, job)
        if dry_run:
            _say_points(console, job)
            return
        with writing(directory), _watched(console, directory) as on_progress:
            found = collect(
                job,
                directory=directory,
                fresh=fresh,
                jobs=jobs,
                executor=executor,
                on_progress=on_progress,
            )
    except (SweepError, ExecutorError) as error:
        raise InputError(str(error)) from error
    if found.interrupted:
        console.print(
            f"Interrupted: {found.frame.height} of {job.plan.runs} runs are kept in {directory}/. Run the "
            "same command to continue."
        )
        raise typer.Exit(INTERRUPTED)
    found = replace(found, fitted=assumptions(request.scenario))
    repeat = _command(request, vary or [], lhs, sample_seed)
    _write(found, directory, repeat)
    write_json(found.document(repeat), json)
    if report:
        with writing(report):
            found.report(report, repeat)
    _show(console, found)
    console.print(f"Figures and data: {directory}/{f', report: {report}' if report else ''}")


def _default_directory(request: Request) -> Path:
    directory = default_directory(request.scenario)
    return directory.with_name(f"{directory.name}-sweep")


def _command(request: Request, vary: list[str], lhs: int | None, sample_seed: int) -> str:
    words = ["airtcp", "sweep", *request.arguments]
    for option in vary:
        words += ["--vary", option]
    if lhs is not None:
        words += ["--lhs", str(lhs), "--sample-seed", str(sample_seed)]
    return shlex.join(words)


def _say_plan(console: Console, job: Job) -> None:
    console.print(headline(job.scenario))
    for axis in job.plan.axes:
        names = ", ".join([*axis.keys, *axis.scheme_keys])
        console.print(f"{names} = {axis.spec}")
    sample = " of a Latin hypercube" if job.plan.hypercube else ""
    console.print(job.plan.size.replace(" ×", f"{sample} ×", 1))


def _say_points(console: Console, job: Job) -> None:
    for point in job.plan.points[:SHOWN_POINTS]:
        console.print(job.plan.describe(point))
    more = len(job.plan.points) - SHOWN_POINTS
    if more > 0:
        console.print(f"… and {more} more points")
    console.print("All points are valid. Nothing was run or written.")


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


def _write(found: SweepResult, directory: Path, repeat: str) -> None:
    with writing(directory):
        found.write_data(directory, repeat)
        found.write_figures(directory)


def _show(console: Console, found: SweepResult) -> None:
    console.print(table(found.plan, found.judged))
    if found.verdict:
        console.print(found.verdict)
    failed = found.frame["error"].count()
    if failed:
        console.print(f"{failed} of {found.frame.height} runs failed:")
        for text in found.errors[:SHOWN_ERRORS]:
            console.print(f"  {text}")
