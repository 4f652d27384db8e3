"""`airtcp compare`."""

from __future__ import annotations

import shlex
from dataclasses import replace

import typer

from airtcp.assumption import assumptions
from airtcp.cli.console import plain_console, write_json
from airtcp.cli.controllers import ControllerOption
from airtcp.cli.errors import FAILED, INTERRUPTED, check_outputs, writing
from airtcp.cli.options import (
    DurationOption,
    JobsOption,
    JsonOption,
    OutOption,
    ProfileOption,
    ReportOption,
    ScenarioArgument,
    SchemesOption,
    SeedsOption,
    SetOption,
    default_directory,
    load,
)
from airtcp.compare import compare
from airtcp.results import to_json
from airtcp.scenarios import headline
from airtcp.table import print_table

EXAMPLES = """\b
Examples:
  airtcp compare
  airtcp compare my-link.toml --seeds 10
  airtcp compare --set link.wireless.loss.packet=0.03 --schemes reno,cubic,bbr
  airtcp compare --controller mine.py --schemes reno,mine,mine:beta=0.7
  airtcp compare --duration 20s --json - > results.json
  airtcp compare ping.log --report report.html
"""


def command(
    scenario: ScenarioArgument = None,
    schemes: SchemesOption = None,
    controller: ControllerOption = None,
    changes: SetOption = None,
    seeds: SeedsOption = None,
    duration: DurationOption = None,
    profile: ProfileOption = None,
    json: JsonOption = None,
    out: OutOption = None,
    report: ReportOption = None,
    jobs: JobsOption = None,
) -> None:
    """Run schemes × seeds on a link and say which carries most, by how much, and how sure that is.

    Prints a table and a verdict; writes results.json, Parquet files and figures (PNG and SVG).
    """
    count = None if seeds is None else str(seeds)
    request = load(
        scenario, changes, controller, schemes=schemes, seeds=count, duration=duration, profile=profile
    )
    directory = out or default_directory(request.scenario)
    check_outputs(directory, json, report)
    console = plain_console(stderr=json == "-")
    console.print(headline(request.scenario))
    found = replace(compare(request.scenario, jobs=jobs, progress=True), fitted=assumptions(request.fitted))
    if found.runs or found.failures:
        command = shlex.join(["airtcp", "compare", *request.arguments])
        with writing(directory):
            found.save_data(directory, command)
        write_json(to_json(found.results(command)), json)
        print_table(console, found.summaries, found.best, found.failed_schemes)
    for note in found.notes:
        console.print(note)
    if found.runs or found.failures:
        with writing(directory):
            found.save_figures(directory)
        if report:
            with writing(report):
                found.report(report, command)
        console.print(f"Figures and data: {directory}/{f', report: {report}' if report else ''}")
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)
    if found.failures:
        raise typer.Exit(FAILED)
