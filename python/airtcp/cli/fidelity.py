"""`airtcp fidelity`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """\b
Examples:
  sudo airtcp fidelity --quick
  sudo airtcp fidelity --docs docs
"""


def command(
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs of each cell on the kernel.  [default: 3]")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few cells, once each: for a look.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where runs are kept; those that are there are not made again."),
    ] = None,
    docs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write fidelity.md and its figure there, once all have run."),
    ] = None,
) -> None:
    """Compare the simulator with this host's kernel, over a grid of loss, RTT and rate.

    Needs root and `airtcpd` (`make field`), on a machine that does nothing else: it takes half an hour of
    real time. Ctrl-C keeps what has run; the same command goes on from there.
    """
    from airtcp.cli.faithful import Request, run_fidelity  # noqa: PLC0415 it loads Matplotlib

    folder = out or Path("airtcp-out/fidelity-quick" if quick else "airtcp-out/fidelity")
    run_fidelity(Request(seeds, quick=quick, out=folder, docs=docs))
