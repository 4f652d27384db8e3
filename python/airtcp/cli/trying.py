"""`airtcp try`."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from airtcp._engine import Scenario
from airtcp.apply import ApplyError
from airtcp.cli.applying import check_root, this_host
from airtcp.cli.console import plain_console, write_json
from airtcp.cli.errors import BAD_INPUT, INTERRUPTED, InputError, check_outputs
from airtcp.cli.options import JsonOption, load
from airtcp.facts.scenario import document
from airtcp.facts.stats import Estimate, estimate
from airtcp.running.progress import watched
from airtcp.trial import Command, Iperf3, Transfer, Trial, TrialRow, prepare, try_all

EXAMPLES = """\b
Examples:
  airtcp try 192.0.2.7 --schemes cubic,bbr
  sudo airtcp try 192.0.2.7 --schemes cubic,bbr,concord --scenario ping.log
  sudo airtcp try --schemes cubic,bbr --download 'ssh phone curl -sfo /dev/null http://server/big'
"""
FORECAST_SEEDS = 8


def command(
    host: Annotated[
        str | None,
        typer.Argument(
            metavar="HOST", help="Host at the far end of the path, running `iperf3 -s`.", show_default=False
        ),
    ] = None,
    schemes: Annotated[
        str, typer.Option(metavar="A,B,…", help="Congestion controls: see `airtcp schemes`.")
    ] = "cubic,bbr,concord",
    port: Annotated[
        int, typer.Option("--iperf3", metavar="PORT", min=1, max=65535, help="Port of the iperf3 server.")
    ] = 5201,
    reverse: Annotated[
        bool, typer.Option("--reverse", help="Let HOST send; it must have the controls.")
    ] = False,
    download: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Instead of iperf3, a command that downloads from this host; judged by the time it takes.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--transfer", metavar="SECONDS", min=1, help="Length of each iperf3 transfer.")
    ] = 10.0,
    blocks: Annotated[
        int, typer.Option(min=3, help="Maximum number of blocks; the trial stops once decided.")
    ] = 12,
    seed: Annotated[
        int | None,
        typer.Option(help="Seed of the order within blocks.  [default: random]", show_default=False),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A scenario or measurement of the path; shows the simulator's forecast alongside.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Find out which congestion control is best on the real path.

    Each block runs one transfer per control, in random order, so that changes of the path affect all of
    them alike. Intervals are for differences within blocks, at 99 %, because results are examined after
    every block; the trial ends once each control is known to be more than 5 % behind the best, or known not
    to be. Loading a control that the kernel lacks needs root and is undone at the end. Ctrl-C keeps
    complete blocks.
    """
    check_outputs(None, json)
    transfer = _transfer(host, port, seconds, reverse, download)
    names = list(dict.fromkeys(name.strip() for name in schemes.split(",") if name.strip()))
    if len(names) < 2:
        raise InputError("--schemes: name at least two")
    path = None if scenario is None else load(scenario, None).scenario
    if path is not None and (download or reverse):
        raise InputError(
            "--scenario forecasts only the goodput of iperf3 transfers from this host; leave it out"
        )
    here = this_host()
    chosen = random.SystemRandom().randrange(10**6) if seed is None else seed
    console = plain_console(stderr=json == "-")
    try:
        plan = prepare(names, here)
        if plan.takes_root(transfer, here):
            check_root(f"airtcp try with {', '.join(names)}")
        _announce(console, names, transfer, blocks, chosen, [step.words for step in plan.steps])
        forecast = {} if path is None else _forecast(path, names, seconds)
        with watched("try", None if download else seconds) as watcher:
            watcher.expect(blocks * len(names))
            found = try_all(
                plan, transfer, here, blocks, chosen, forecast, lambda _, scheme: watcher.done(scheme)
            )
    except ApplyError as error:
        raise InputError(str(error)) from error
    show(console, found)
    write_json(found, json)
    if found.broken_off:
        raise typer.Exit(INTERRUPTED if found.broken_off == "interrupted" else BAD_INPUT)


def show(console: Console, found: Trial) -> None:
    """Prints the table and the conclusion."""
    console.print(_table(found))
    best, *others = found.rows
    count = len(best.values)
    if found.broken_off:
        console.print(f"It ended early: {found.broken_off}.")
    if not found.decided:
        unknown = [row.scheme for row in others if row.standing == "not known"]
        console.print(
            f"Not decided after {count} blocks: {', '.join(unknown)} may be as good as {best.scheme}. Use "
            "more --blocks or longer transfers."
        )
        return
    alike = [row.scheme for row in others if row.standing == "as good"]
    behind = [row.scheme for row in others if row.standing == "behind"]
    said = [
        f"{best.scheme} is best here" if not alike else f"{' and '.join([best.scheme, *alike])} are as good"
    ]
    said += [f"{', '.join(behind)} {'is' if len(behind) == 1 else 'are'} behind"] if behind else []
    console.print(f"Decided after {count} blocks: {'; '.join(said)}.")


def _table(found: Trial) -> Table:
    is_goodput = found.objective == "goodput"
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("control")
    table.add_column("Mbit/s" if is_goodput else "s", justify="right")
    table.add_column("behind the best, %", justify="right")
    forecast = any(row.forecast for row in found.rows)
    if forecast:
        table.add_column("forecast, Mbit/s", justify="right")
        table.add_column("to forecast, %", justify="right")
    table.add_column("so it is")
    scale = 1e-6 if is_goodput else 1.0
    for row in found.rows:
        behind = "–" if row.behind is None else _interval(row.behind.scaled(100), 1)
        told = _told(row, scale) if forecast else []
        table.add_row(row.scheme, _interval(row.reached.scaled(scale), 2), behind, *told, row.standing)
    return table


def _told(row: TrialRow, scale: float) -> list[str]:
    if row.forecast is None:
        return ["–", "–"]
    return [
        _interval(row.forecast.scaled(scale), 2),
        f"{100 * (row.reached.mean / row.forecast.mean - 1):+.1f}",
    ]


def _interval(found: Estimate, places: int) -> str:
    half = "" if found.half_width is None else f" ± {found.half_width:.{places}f}"
    return f"{found.mean:.{places}f}{half}"


def _transfer(host: str | None, port: int, seconds: float, reverse: bool, download: str | None) -> Transfer:
    if download is not None:
        if host is not None or reverse:
            raise InputError("--download replaces HOST and --reverse: give one or the other")
        return Command(download)
    if host is None:
        raise InputError("name the HOST running `iperf3 -s`, or give --download")
    return Iperf3(host, port, seconds, reverse)


def _announce(
    console: Console,
    schemes: Sequence[str],
    transfer: Transfer,
    blocks: int,
    seed: int,
    loaded: Sequence[str],
) -> None:
    for words in loaded:
        console.print(f"For as long as it runs: {words}")
    most = f"{blocks} blocks of {len(schemes)} transfers at most"
    if isinstance(transfer, Iperf3):
        most += f", {transfer.seconds:g} s each, at the full rate of the path: up to "
        most += f"{blocks * len(schemes) * transfer.seconds / 60:.0f} min"
    console.print(f"{most}. The order is that of --seed {seed}. Ctrl-C keeps the whole blocks.")


def _forecast(path: Scenario, schemes: Sequence[str], seconds: float) -> Mapping[str, Estimate]:
    """Simulates one connection alone on the path, for the same time, with Linux senders."""
    # The simulator's modules are slow to import.
    from airtcp.asking.compare import compare  # noqa: PLC0415

    first = {key: value for key, value in document(path)["flow"][0].items() if key in ("enter", "leave")}
    bulk = path.vary({"flow": [{**first, "name": "transfer", "traffic": {"kind": "unlimited"}}]})
    duration = f"{seconds:g}s"
    asked = bulk.vary(
        schemes=list(schemes), seeds=FORECAST_SEEDS, duration=duration, profile="linux", warmup="0s"
    )
    found = compare(asked, jobs=os.cpu_count())
    return {
        scheme: estimate([run["goodput_bps"] for run in found.runs if run["scheme"] == scheme])
        for scheme in schemes
    }
