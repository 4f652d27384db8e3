"""`airtcp run`."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from airtcp.asking.given import assumptions
from airtcp.cli.console import plain_console
from airtcp.cli.controllers import ControllerOption
from airtcp.cli.errors import InputError, check_outputs, writing
from airtcp.cli.given import check_needs, named_for
from airtcp.cli.options import (
    DurationOption,
    IntervalOption,
    OnlyOption,
    PdfOption,
    ProfileOption,
    ReportOption,
    Request,
    ScenarioArgument,
    SetOption,
    formats,
    interval_s,
    load,
)
from airtcp.facts.files import CAPTURE, SERIES

if TYPE_CHECKING:
    from airtcp.results.one_run import RunResult

NEEDS = {"link": ["pcap"], "interval": ["series", "out", "report"], "pdf": ["out"]}

EXAMPLES = """\b
Examples:
  airtcp run --scheme bbr
  airtcp run my-link.toml --scheme cubic --seed 3 --out lte-cubic
  airtcp run --scheme reno:recovery=newreno --series reno.csv --interval 10ms
  sudo .venv/bin/airtcp run my-link.toml --on linux --scheme westwood-vt
  airtcp run --scheme reno --duration 5s --pcap reno.pcapng --link wireless
"""


def command(
    context: typer.Context,
    scenario: ScenarioArgument = None,
    on: Annotated[
        Literal["sim", "linux"],
        typer.Option(help="Run in the simulator or on this host's kernel: see `airtcp compare`."),
    ] = "sim",
    scheme: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEME", help="Scheme to run: see `airtcp schemes`.  [default: the scenario's first]"
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Seed of the run.  [default: the scenario's first]")
    ] = None,
    controller: ControllerOption = None,
    changes: SetOption = None,
    only: OnlyOption = None,
    duration: DurationOption = None,
    profile: ProfileOption = None,
    series: Annotated[
        Path | None,
        typer.Option(
            callback=named_for("--series", SERIES),
            metavar="FILE",
            help="Write the flows' time series to a .parquet or .csv file.",
        ),
    ] = None,
    interval: IntervalOption = None,
    pcap: Annotated[
        Path | None,
        typer.Option(
            callback=named_for("--pcap", CAPTURE),
            metavar="FILE",
            help="Capture the packets on one link as pcapng.",
        ),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The link to capture.  [default: the path's first]"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write record.json, the time series and their figures to DIR."),
    ] = None,
    report: ReportOption = None,
    pdf: PdfOption = False,
    no_shortcuts: Annotated[
        bool,
        typer.Option("--no-shortcuts", hidden=True, help="Handle every packet the general way: same result."),
    ] = False,
) -> None:
    """Run one scheme once and report what only a simulator knows: the cause of every loss, and which
    retransmissions were unnecessary."""
    spacing_s = interval_s(interval)
    check_needs(context, NEEDS)
    if pcap and on == "linux":
        raise InputError("--pcap captures simulator runs; use `airtcpd link` to capture packets on a host")
    if no_shortcuts and on == "linux":
        raise InputError("--no-shortcuts is for simulator runs: a kernel has none; leave it out")
    request = load(scenario, changes, controller, only, duration=duration, profile=profile)
    check_outputs(out, series, report, pcap)

    from airtcp.asking.run import run  # noqa: PLC0415 it loads Polars
    from airtcp.facts.series import write_frame  # noqa: PLC0415 likewise

    # The engine writes only the capture.
    with writing(pcap):
        found = run(
            request.scenario,
            scheme,
            seed,
            on=on,
            series=bool(series or out or report),
            interval_s=spacing_s,
            pcap=pcap,
            pcap_link=link,
            no_shortcuts=no_shortcuts,
        )
    found = replace(found, fitted=assumptions(request.scenario))
    if series:
        with writing(series):
            write_frame(found.series, series)
    if out:
        with writing(out):
            found.save(out, formats=formats(pdf))
    if report:
        with writing(report):
            found.report(report, _again(request, found, interval))
    console = plain_console()
    console.print(str(found))
    for file in (series, out, report, pcap):
        if file:
            console.print(f"Written: {file}")


def _again(request: Request, found: RunResult, interval: str | None) -> str:
    """Returns the command that repeats the report."""
    spacing = [] if interval is None else ["--interval", interval]
    where = ["--on", "linux"] if found.host else []
    chosen = ["--scheme", found.scheme, "--seed", str(found.seed), *spacing, *where]
    return shlex.join(["airtcp", "run", *request.arguments, *chosen, "--report", "report.html"])
