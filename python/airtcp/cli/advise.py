"""`airtcp advise`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Annotated

import typer

from airtcp.advise.asked import CONTROLS, Control, Traffic, check_now
from airtcp.advise.now import in_use
from airtcp.cli.apply import (
    ApplyOption,
    CgroupOption,
    CircuitOption,
    FormatOption,
    PersistentOption,
    RoleOption,
    WiredOption,
    WirelessOption,
    YesOption,
    check_format,
    site_of,
)
from airtcp.cli.console import plain_console, write_json
from airtcp.cli.controllers import ControllerOption
from airtcp.cli.errors import FAILED, INTERRUPTED, InputError, PathError, check_outputs, writing
from airtcp.cli.given import check_needs
from airtcp.cli.options import (
    DurationOption,
    JobsOption,
    JsonOption,
    OnlyOption,
    OutOption,
    ProfileOption,
    ReportOption,
    Request,
    ScenarioArgument,
    SetOption,
    choices,
    default_directory,
    load,
)

EXAMPLES = """\b
Examples:
  airtcp advise my-link.toml --control sender
  airtcp advise ping.log --control gateway --now reno
  airtcp advise my-link.toml --control sender,gateway --for web --quick
  airtcp advise ping.log iperf3.json --controller mine.py
  airtcp advise my-link.toml --report advice.html --json advice.json
  sudo airtcp advise ping.log --control sender --apply
  airtcp advise ping.log --control gateway --format openwrt > setup.sh
"""


HOW = ("role", "wireless", "wired", "cgroup", "circuit")
"""Options that say how the answer is carried out."""
NEEDS = {**dict.fromkeys(HOW, ("apply", "form")), "persistent": ("apply",), "yes": ("apply",)}


def command(
    context: typer.Context,
    scenario: ScenarioArgument = None,
    control: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT",
            help="What you control, comma-separated: `sender` (the hosts that send data, e.g. your servers), "
            "`receiver` (the hosts that receive it, e.g. your terminals), `both` (sender and receiver), "
            "`gateway` (the router or base station in front of the wireless link).  [default: all]",
            show_default=False,
        ),
    ] = None,
    now: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEME",
            help="The scheme in use now.  [default: this host's net.ipv4.tcp_congestion_control]",
            show_default=False,
        ),
    ] = None,
    traffic: Annotated[
        Traffic | None,
        typer.Option(
            "--for",
            metavar="bulk|web",
            help="The workload: `bulk`, one long transfer judged by goodput, or `web`, transfers of 100 kB "
            "on average judged by completion time.  [default: the scenario's flows]",
            show_default=False,
        ),
    ] = None,
    controller: ControllerOption = None,
    changes: SetOption = None,
    only: OnlyOption = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Do a tenth of the work, for a first impression.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Maximum number of runs per candidate.  [default: 24]",
            show_default=False,
        ),
    ] = None,
    duration: DurationOption = None,
    profile: ProfileOption = None,
    json: JsonOption = None,
    out: OutOption = None,
    report: ReportOption = None,
    jobs: JobsOption = None,
    apply: ApplyOption = False,
    role: RoleOption = None,
    wireless: WirelessOption = None,
    wired: WiredOption = None,
    cgroup: CgroupOption = None,
    circuit: CircuitOption = None,
    persistent: PersistentOption = False,
    yes: YesOption = False,
    form: FormatOption = None,
) -> None:
    """Recommend a scheme for a link: the best that you can deploy, and how much better it is.

    Compares the candidates with confidence intervals and spends most runs on the closest ones. Reports what
    the best one needs, what share a competing CUBIC flow retains, and over which range of loss and delay
    the answer holds. Takes a minute or two; writes advice.json and figures.
    """
    check_needs(context, NEEDS)
    check_format(form)
    if form and json == "-":
        raise InputError("--format and --json -: only one of them can write to standard output")
    site = site_of(role, wireless, wired, cgroup, circuit, persistent)
    controls = choices("--control", ",".join(control or []), CONTROLS)
    try:
        request = load(scenario, changes, controller, only, duration=duration, profile=profile)
    except PathError as failure:
        console = plain_console(stderr=json == "-" or form is not None)
        console.print(str(failure))
        write_json(failure.found, json)
        if not (apply and failure.is_hole):
            raise typer.Exit(FAILED) from failure
        from airtcp.cli import applying  # noqa: PLC0415 as below

        applying.apply_cure(console, site, controls, yes=yes)
        return
    here = in_use()
    own = here.scheme if now is None else now
    try:
        check_now(own, request.scenario)
    except ValueError as error:
        raise InputError(str(error)) from error

    from airtcp.cli import advising, applying  # noqa: PLC0415 they load Polars and NumPy

    if apply:
        applying.check_can_apply()
    directory = out or default_directory(request.scenario)
    check_outputs(directory, json, report)
    console = plain_console(stderr=json == "-" or form is not None)
    if now is None:
        console.print(f"Compared with {own}, {here.why}; --now names another one.")
    again = _arguments(request, controls, own, traffic, quick, seeds)
    found = advising.advised(
        request, controls, own, traffic, quick, seeds, duration is not None, jobs, shlex.join(again)
    )
    advising.save(found, directory)
    write_json(found, json)
    advising.show(console, found)
    advising.draw(found, directory)
    if report and found.rows:
        with writing(report):
            found.report(report)
    console.print(f"Figures and data: {directory}/{f', report: {report}' if report else ''}")
    if form:
        applying.openwrt_advice(found, site)
    if apply:
        applying.apply_advice(console, found, site, yes=yes)
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)
    if found.nothing_arrived or found.not_closed:
        raise typer.Exit(FAILED)


def _arguments(
    request: Request,
    controls: Sequence[Control],
    now: str,
    traffic: Traffic | None,
    quick: bool,
    seeds: int | None,
) -> list[str]:
    """Returns the arguments that repeat the question."""
    found = ["airtcp", "advise", *request.arguments, "--now", now]
    found += ["--control", ",".join(controls)] if controls else []
    found += ["--for", traffic] if traffic else []
    found += ["--quick"] if quick else []
    return found + (["--seeds", str(seeds)] if seeds is not None else [])
