"""`airtcp advise`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.padding import Padding

from airtcp._engine import ScenarioError
from airtcp.advise import CONTROLS, Advice, Control, Traffic, advise
from airtcp.advise.table import print_rows
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
)
from airtcp.cli.applying import apply_advice, check_can_apply, openwrt_advice
from airtcp.cli.console import plain_console, write_json
from airtcp.cli.controllers import ControllerOption
from airtcp.cli.errors import INTERRUPTED, InputError, check_outputs, writing
from airtcp.cli.options import (
    DurationOption,
    JobsOption,
    JsonOption,
    OutOption,
    ProfileOption,
    ReportOption,
    Request,
    ScenarioArgument,
    SetOption,
    default_directory,
    load,
)
from airtcp.results.document import to_json
from airtcp.running.progress import watched

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


def command(
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
    now: Annotated[str, typer.Option(metavar="SCHEME", help="The scheme in use now.")] = "cubic",
    traffic: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="bulk|web",
            help="The workload: `bulk`, one long transfer, judged by goodput; `web`, transfers of 100 kB on "
            "average, judged by completion time.  [default: the scenario's flows]",
            show_default=False,
        ),
    ] = None,
    controller: ControllerOption = None,
    changes: SetOption = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Do a tenth of the work, for a first impression.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(min=2, help="Maximum runs per candidate.  [default: 24]", show_default=False),
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
    """Recommend a scheme for a link: the best of those that you can deploy, and by how much.

    Compares them with confidence intervals, spending most runs on the closest candidates. Reports what the
    best one needs, what share a competing CUBIC flow retains, and over which range of loss and delay the
    answer holds. Takes a minute or two; writes advice.json and figures.
    """
    check_format(form)
    if apply:
        check_can_apply()
    controls, carried = _controls(control), _traffic(traffic)
    request = load(scenario, changes, controller, duration=duration, profile=profile)
    directory = out or default_directory(request.scenario)
    check_outputs(directory, json, report)
    console = plain_console(stderr=json == "-" or form is not None)
    again = _arguments(request, controls, now, carried, quick, seeds)
    found = _advise(
        request, controls, now, carried, quick, seeds, duration is not None, jobs, shlex.join(again)
    )
    with writing(directory):
        (directory / "advice.json").write_text(to_json(found), encoding="utf-8")
    write_json(found, json)
    show(console, found)
    _draw(found, directory)
    if report and found.rows:
        with writing(report):
            found.report(report)
    console.print(f"Figures and data: {directory}/{f', report: {report}' if report else ''}")
    if form:
        openwrt_advice(found, role, wireless, wired, cgroup, circuit)
    if apply:
        apply_advice(console, found, role, wireless, wired, cgroup, circuit, persistent=persistent, yes=yes)
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)


def show(console: Console, found: Advice) -> None:
    """Prints the whole answer on a terminal."""
    if found.rows:
        print_rows(console, found)
    for paragraph in found.text:
        console.print(paragraph.title, style="bold")
        console.print(Padding(paragraph.text, (0, 0, 1, 2), expand=False))
    console.print(f"Reproduce: {found.command}")


def _advise(
    request: Request,
    controls: Sequence[Control],
    now: str,
    carried: Traffic | None,
    quick: bool,
    seeds: int | None,
    keep_duration: bool,
    jobs: int | None,
    again: str,
) -> Advice:
    try:
        with watched("advise") as watcher:
            return advise(
                request.scenario,
                control=controls,
                now=now,
                traffic=carried,
                quick=quick,
                seeds=seeds,
                keep_duration=keep_duration,
                written=request.written,
                controllers=request.controllers,
                command=again,
                jobs=jobs,
                watcher=watcher,
            )
    except (ScenarioError, ValueError) as error:
        raise InputError(str(error)) from error


def _controls(given: Sequence[str] | None) -> list[Control]:
    words = [word.strip() for text in given or [] for word in text.split(",") if word.strip()]
    for word in words:
        if word not in CONTROLS:
            raise InputError(f"--control {word}: expected one or more of {', '.join(CONTROLS)}")
    return cast(list[Control], list(dict.fromkeys(words)))


def _traffic(given: str | None) -> Traffic | None:
    if given not in (None, "bulk", "web"):
        raise InputError(f"--for {given}: bulk or web")
    return cast(Traffic | None, given)


def _arguments(
    request: Request,
    controls: Sequence[Control],
    now: str,
    carried: Traffic | None,
    quick: bool,
    seeds: int | None,
) -> list[str]:
    """Returns the arguments that repeat the question."""
    found = ["airtcp", "advise", *request.arguments, "--now", now]
    found += ["--control", ",".join(controls)] if controls else []
    found += ["--for", carried] if carried else []
    found += ["--quick"] if quick else []
    return found + (["--seeds", str(seeds)] if seeds is not None else [])


def _draw(found: Advice, directory: Path) -> None:
    # Matplotlib is slow to import and is needed only at the end.
    from airtcp.advise.figures import draw_all  # noqa: PLC0415

    with writing(directory):
        draw_all(found, directory)
