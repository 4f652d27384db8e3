"""`airtcp compare`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from airtcp._engine import Scenario
from airtcp.asking.on import On
from airtcp.cli.console import plain_console, write_json
from airtcp.cli.controllers import ControllerOption
from airtcp.cli.errors import FAILED, INTERRUPTED, InputError, check_outputs, writing
from airtcp.cli.options import (
    DurationOption,
    IntervalOption,
    JsonOption,
    OnlyOption,
    PdfOption,
    ProfileOption,
    ReportOption,
    ScenarioArgument,
    SchemesOption,
    SeedsOption,
    SetOption,
    default_directory,
    formats,
    interval_s,
    load,
)
from airtcp.facts.scenario import headline
from airtcp.running.cost import CostError, check_cost, time_text

EXAMPLES = """\b
Examples:
  airtcp compare
  airtcp compare my-link.toml --seeds 10
  airtcp compare --set link.wireless.loss.packet=0.03 --schemes reno,cubic,bbr
  airtcp compare --controller mine.py --schemes reno,mine,mine:beta=0.7
  airtcp compare --duration 20s --json - > results.json
  airtcp compare ping.log --report report.html
  sudo .venv/bin/airtcp compare my-link.toml --on both --schemes reno,westwood-vt
  airtcp compare my-link.toml --on both --kernel 6.1
"""
WORTH_SAYING_S = 30.0
OnOption = Annotated[
    On,
    typer.Option(
        help="Where to run: in the simulator, on this host's Linux kernel over an emulation of the same path "
        "(real time; needs root and `airtcpd`), or both, side by side. Kernel runs always include the "
        "kernel's own cubic, reno and bbr.",
    ),
]
KernelOption = Annotated[
    str | None,
    typer.Option(
        metavar="VERSION",
        help="With --on linux or both: run on Debian's newest kernel of that version, such as 6.1, in guests "
        "under qemu, whose clocks count instructions. Needs no root, but qemu and apt.",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Write results and figures to DIR.  [default: airtcp-out/NAME; figures for Linux runs only]",
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Number of concurrent runs. On Linux they disturb each other's timing.  [default: one per "
        "core; on this host's Linux, one]",
    ),
]


def command(
    scenario: ScenarioArgument = None,
    on: OnOption = "sim",
    kernel: KernelOption = None,
    schemes: SchemesOption = None,
    controller: ControllerOption = None,
    changes: SetOption = None,
    only: OnlyOption = None,
    seeds: SeedsOption = None,
    duration: DurationOption = None,
    profile: ProfileOption = None,
    json: JsonOption = None,
    out: OutOption = None,
    report: ReportOption = None,
    jobs: JobsOption = None,
    interval: IntervalOption = None,
    pdf: PdfOption = False,
) -> None:
    """Run schemes × seeds on a link; report which carries the most, by how much, and with what confidence.

    Prints a table and a verdict; writes results.json, Parquet files and, with --out or --pdf, figures (PNG
    and SVG).
    """
    count = None if seeds is None else str(seeds)
    request = load(
        scenario, changes, controller, only, schemes=schemes, seeds=count, duration=duration, profile=profile
    )
    if kernel and on == "sim":
        raise InputError("--kernel is for --on linux and --on both")
    if on == "sim":
        _say_cost(request.scenario, jobs)

    from airtcp.cli import comparing  # noqa: PLC0415 it loads Polars

    # Reports an unsuitable host before writing anything.
    announced = comparing.announced(request.scenario, on, jobs, kernel)
    directory = out or _directory(request.scenario, on)
    check_outputs(directory, json, report)
    console = plain_console(stderr=json == "-")
    for line in (headline(request.scenario), *announced):
        console.print(line)
    found = comparing.compared(request.scenario, on, jobs, interval_s(interval), kernel)
    has_run = found.has_run
    if has_run:
        spacing = [] if interval is None else ["--interval", interval]
        command = shlex.join(["airtcp", "compare", *request.arguments, *spacing, *_on_argument(on, kernel)])
        with writing(directory):
            found.save_data(directory, command)
        write_json(found.results(command), json)
        comparing.print_compared(console, found)
    for note in found.notes:
        console.print(note)
    # Figures take longer than the rest. A simulation is quickly repeated, unlike a run on Linux, but a user
    # who interrupts one does not want to wait for its figures.
    drawn = has_run and (bool(out) or pdf if on == "sim" else not found.interrupted)
    if drawn:
        with writing(directory):
            found.save_figures(directory, formats(pdf))
    if has_run:
        if report:
            with writing(report):
                found.report(report, command)
        what = "Figures and data" if drawn else "Data"
        how = "" if drawn or out else " (with figures: --out DIR)"
        console.print(f"{what}: {directory}/{f', report: {report}' if report else ''}{how}")
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)
    if found.failures or found.nothing_arrived:
        raise typer.Exit(FAILED)


def _say_cost(scenario: Scenario, jobs: int | None) -> None:
    """Refuses a comparison that nobody would wait for, and announces a long one."""
    try:
        time_s = check_cost(scenario, jobs)
    except CostError as error:
        raise InputError(str(error)) from error
    if time_s > WORTH_SAYING_S:
        print(f"Estimated time: about {time_text(time_s)}.", file=sys.stderr, flush=True)


def _directory(scenario: Scenario, on: On) -> Path:
    """Returns the output directory, which differs by backend so that neither overwrites the other."""
    folder = default_directory(scenario)
    return folder if on == "sim" else folder.with_name(f"{folder.name}-{on}")


def _on_argument(on: On, kernel: str | None) -> list[str]:
    return [] if on == "sim" else ["--on", on, *(["--kernel", kernel] if kernel else [])]
