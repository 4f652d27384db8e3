"""`airtcp sweep`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from airtcp.asking.given import assumptions
from airtcp.cli.console import plain_console, write_json
from airtcp.cli.controllers import ControllerOption
from airtcp.cli.errors import INTERRUPTED, InputError, check_outputs, writing
from airtcp.cli.given import check_needs
from airtcp.cli.options import (
    DurationOption,
    JobsOption,
    JsonOption,
    PdfOption,
    ProfileOption,
    ReportOption,
    Request,
    ScenarioArgument,
    SchemesOption,
    SeedsOption,
    SetOption,
    default_directory,
    formats,
    load,
)
from airtcp.sweep.errors import SweepError
from airtcp.sweep.grammar import Vary, parse_option
from airtcp.sweep.plan import check

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


def command(
    context: typer.Context,
    scenario: ScenarioArgument = None,
    vary: Annotated[
        list[str] | None, typer.Option(metavar="KEY=SPEC", help="Key to vary, and its values. Repeatable.")
    ] = None,
    lhs: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Sample a Latin hypercube of N points over the ranges, instead of a grid.",
        ),
    ] = None,
    sample_seed: Annotated[int, typer.Option(metavar="N", help="Seed of the Latin hypercube.")] = 1,
    schemes: SchemesOption = None,
    controller: ControllerOption = None,
    changes: SetOption = None,
    seeds: SeedsOption = None,
    duration: DurationOption = None,
    profile: ProfileOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Directory for results and figures.  [default: airtcp-out/NAME-sweep]"
        ),
    ] = None,
    json: JsonOption = None,
    report: ReportOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Discard the runs stored in DIR.")] = False,
    jobs: JobsOption = None,
    executor: Annotated[
        str,
        typer.Option(metavar="WHERE", help="Where to run: `threads`, `processes`, or `dask://HOST:PORT`."),
    ] = "threads",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run, without running it.")
    ] = False,
    pdf: PdfOption = False,
) -> None:
    """Run schemes × seeds at every point of a parameter sweep, and report which scheme is best where.

    Prints how often each scheme is best; writes results.parquet (one row per run), sweep.json and figures.
    DIR keeps finished runs: if the sweep is interrupted or killed, the same command resumes it.
    """
    check_needs(context, {"sample_seed": ["lhs"]})
    varies = _varies(vary or [], lhs)
    count = None if seeds is None else str(seeds)
    request = load(
        scenario, changes, controller, schemes=schemes, seeds=count, duration=duration, profile=profile
    )

    from airtcp.cli import sweeping  # noqa: PLC0415 it loads Polars

    console = plain_console(stderr=json == "-")
    job = sweeping.prepared(request.scenario, varies, lhs, sample_seed)
    directory = out or _default_directory(request)
    if not dry_run:
        check_outputs(directory, json, report)
    sweeping.say_plan(console, job)
    if dry_run:
        sweeping.say_points(console, job)
        return
    found = sweeping.collected(console, job, directory, fresh=fresh, jobs=jobs, executor=executor)
    if found.interrupted:
        console.print(
            f"Interrupted: {found.frame.height} of {job.plan.runs} runs are kept in {directory}/. Run the "
            "same command to continue."
        )
        raise typer.Exit(INTERRUPTED)
    found = replace(found, fitted=assumptions(request.scenario))
    repeat = _command(request, vary or [], lhs, sample_seed)
    with writing(directory):
        found.save_data(directory, repeat)
        found.save_figures(directory, formats(pdf))
    write_json(found.document(repeat), json)
    if report:
        with writing(report):
            found.report(report, repeat)
    sweeping.show(console, found)
    console.print(f"Figures and data: {directory}/{f', report: {report}' if report else ''}")


def _varies(options: Sequence[str], lhs: int | None) -> list[Vary]:
    """Parses what varies. Raises InputError."""
    try:
        varies = [parse_option(option) for option in options]
        check(varies, lhs)
    except SweepError as error:
        raise InputError(str(error)) from error
    return varies


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
