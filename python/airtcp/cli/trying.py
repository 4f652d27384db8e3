"""`airtcp try`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated

import typer

from airtcp.advise.now import in_use
from airtcp.cli.console import plain_console, write_json
from airtcp.cli.errors import BAD_INPUT, INTERRUPTED, InputError, check_outputs
from airtcp.cli.given import check_excluded
from airtcp.cli.options import JsonOption, load

EXAMPLES = """\b
Examples:
  airtcp try 192.0.2.7 --schemes cubic,bbr
  sudo airtcp try 192.0.2.7 --schemes cubic,bbr,concord --scenario ping.log
  sudo airtcp try --schemes cubic,bbr --download 'ssh phone curl -sfo /dev/null http://server/big'
"""

DEFAULTS = ("cubic", "bbr", "concord")


def command(
    context: typer.Context,
    host: Annotated[
        str | None,
        typer.Argument(
            metavar="HOST", help="Host at the far end of the path, running `iperf3 -s`.", show_default=False
        ),
    ] = None,
    schemes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            help="Congestion controls: see `airtcp schemes`.  [default: this host's, and cubic,bbr,concord]",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--iperf3", metavar="PORT", min=1, max=65535, help="Port of the iperf3 server.")
    ] = 5201,
    reverse: Annotated[
        bool, typer.Option("--reverse", help="Let HOST send; it must have the congestion controls.")
    ] = False,
    download: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Instead of iperf3, run COMMAND, which downloads from this host, and judge by the time "
            "it takes.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--transfer", metavar="SECONDS", min=1, help="Duration of each iperf3 transfer.")
    ] = 10.0,
    blocks: Annotated[
        int,
        typer.Option(metavar="N", min=3, help="Maximum number of blocks; the trial ends once it is decided."),
    ] = 12,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Seed for the order within blocks.  [default: random]", show_default=False
        ),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A scenario or measurement of the path, to show the simulator's forecast alongside.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Find out which congestion control is best on the real path.

    Each block runs one transfer per control, in random order, so that changes in the path affect all of
    them alike. Intervals are for differences within blocks, at 99 %, because results are examined after
    every block; the trial ends once each control is known to be more than 5 % behind the best, or known not
    to be. Loading a control that the kernel lacks needs root and is undone at the end. Ctrl-C keeps
    the complete blocks.
    """
    check_excluded(context, "download", ["port", "seconds"])
    check_outputs(None, json)
    if download is not None and (host is not None or reverse):
        raise InputError("--download replaces HOST and --reverse: give one or the other")
    target = host if download is None else download
    if target is None:
        raise InputError("name the HOST running `iperf3 -s`, or give --download")
    # With --reverse the other host sends, and what it uses is not known here.
    here = in_use() if schemes is None and not reverse else None
    own = [here.scheme] if here else []
    wanted = [*own, *DEFAULTS] if schemes is None else schemes.split(",")
    names = list(dict.fromkeys(name.strip() for name in wanted if name.strip()))
    if len(names) < 2:
        raise InputError("--schemes: name at least two")
    path = None if scenario is None else load(scenario, None).scenario
    if path is not None and (download or reverse):
        raise InputError(
            "--scenario forecasts only the goodput of iperf3 transfers from this host; leave it out"
        )

    from airtcp.cli import trial  # noqa: PLC0415 it loads Polars and NumPy
    from airtcp.trial import Command, Iperf3  # noqa: PLC0415 likewise

    transfer = Iperf3(target, port, seconds, reverse) if download is None else Command(target)
    chosen = random.SystemRandom().randrange(10**6) if seed is None else seed
    console = plain_console(stderr=json == "-")
    if here:
        console.print(f"Tried beside {here.scheme}, {here.why}; --schemes names others.")
    found = trial.tried(console, names, transfer, path, blocks, chosen)
    trial.show(console, found)
    write_json(found, json)
    if found.broken_off:
        raise typer.Exit(INTERRUPTED if found.broken_off == "interrupted" else BAD_INPUT)
