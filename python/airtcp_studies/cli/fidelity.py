"""`airtcp fidelity`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """\b
Examples:
  sudo airtcp fidelity --quick
  airtcp fidelity --recorded --out docs/fidelity
  sudo airtcp fidelity --traces traces --docs docs
"""


def command(
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="A cell runs on the kernel no more often.  [default: 12, of --quick 3]"),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few cells: for a look.")] = False,
    recorded: Annotated[
        bool,
        typer.Option("--recorded", help="Judge by the runs that are kept. Nothing runs on the kernel."),
    ] = False,
    traces: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where recorded capacities are; without it they are left out."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where runs on the kernel are kept, which are not made again, and findings.toml, what was "
            "found on looking.  [default: fidelity/ of --docs, or airtcp-out/fidelity]",
        ),
    ] = None,
    docs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write fidelity.md and its figure there, once all have run."),
    ] = None,
) -> None:
    """Compare the simulator with this host's kernel: goodput, losses, round trips, short transfers, shares.

    A cell is repeated until its interval is narrow. Needs root and `airtcpd` (`make field`), on a machine
    that does nothing else: it takes an hour of real time, with --quick a few minutes. Ctrl-C keeps what has
    run; the same command goes on from there. With --recorded it needs none of that, and takes seconds.
    """
    from airtcp_studies.cli.faithful import Request, run_fidelity  # noqa: PLC0415 it loads Matplotlib

    usual = (
        docs / "fidelity" if docs else Path("airtcp-out/fidelity-quick" if quick else "airtcp-out/fidelity")
    )
    run_fidelity(Request(seeds, quick=quick, recorded=recorded, traces=traces, out=out or usual, docs=docs))
