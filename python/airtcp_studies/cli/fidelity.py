"""`airtcp fidelity`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """\b
Examples:
  sudo airtcp fidelity --quick
  airtcp fidelity --kernel 6.1 --quick
  airtcp fidelity --recorded --out docs/fidelity
  sudo airtcp fidelity --traces traces --docs docs
"""


def command(
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Maximum number of kernel runs per cell.  [default: 12; 3 with --quick]"
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Run only a few cells, for a first look.")] = False,
    recorded: Annotated[
        bool,
        typer.Option("--recorded", help="Judge recorded kernel runs; run nothing on the kernel."),
    ] = False,
    kernel: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION",
            help="Run reno, cubic and bbr on Debian's newest kernel of that version, such as 6.1, in guests "
            "under qemu, and write fidelity-kernels.md instead: a column for each kernel that has run. Needs "
            "no root, but qemu and apt.",
        ),
    ] = None,
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Directory of capacity traces; without it, their cells are left out."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory for the kernel runs, which are reused, and for findings.toml, which explains "
            "outliers.  [default: fidelity/ in --docs, or airtcp-out/fidelity]",
        ),
    ] = None,
    docs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write fidelity.md and its figure to DIR once all cells have run."),
    ] = None,
) -> None:
    """Compare the simulator with this host's kernel: goodput, losses, round trips, short transfers, fairness.

    Repeats each cell until its interval is narrow. Needs root and `airtcpd` (`make field`) on an otherwise
    idle machine, and takes an hour of real time, or a few minutes with --quick. Ctrl-C keeps finished runs;
    the same command continues from there. --recorded needs none of this and takes seconds.
    """
    from airtcp_studies.cli.faithful import Request, run_fidelity  # noqa: PLC0415 it loads Matplotlib

    usual = (
        docs / "fidelity" if docs else Path("airtcp-out/fidelity-quick" if quick else "airtcp-out/fidelity")
    )
    run_fidelity(
        Request(
            seeds, quick=quick, recorded=recorded, traces=traces, out=out or usual, docs=docs, kernel=kernel
        )
    )
