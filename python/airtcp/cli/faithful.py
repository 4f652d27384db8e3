"""`airtcp fidelity`: what it does; its options are in `fidelity`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import typer

from airtcp.cli.console import plain_console, watched
from airtcp.cli.errors import FAILED, INTERRUPTED, InputError, check_outputs, writing
from airtcp.failure import Failure, failure_notes
from airtcp.fidelity.anchor import ANCHOR_MBPS, section
from airtcp.fidelity.findings import Finding, Journal, Measured, findings
from airtcp.fidelity.grid import Cell, cells
from airtcp.fidelity.measure import KERNEL_SEEDS, measure, planned, simulate
from airtcp.fidelity.page import page, verdict
from airtcp.fidelity.plot import ratios
from airtcp.figures.style import save, save_svg, style
from airtcp.linux import LinuxError

FIGURES = "figures"


@dataclass(frozen=True)
class Request:
    """What was asked for: the options of `airtcp fidelity`."""

    seeds: int | None
    quick: bool
    out: Path
    docs: Path | None


@dataclass
class _Progress:
    """What came of the runs on the kernel."""

    failures: list[Failure] = field(default_factory=list)
    interrupted: bool = False
    missing: int = 0


def run_fidelity(request: Request) -> None:
    check_outputs(request.out)
    if request.docs:
        check_outputs(request.docs / FIGURES)
    grid = cells(quick=request.quick)
    anchor = [] if request.quick else list(ANCHOR_MBPS)
    seeds = request.seeds or (1 if request.quick else KERNEL_SEEDS)
    with watched("simulating") as watcher:
        watcher.expect(1)
        simulated = simulate([*grid, *anchor], seeds)
        watcher.done("")
    plan = planned(simulated, seeds)
    journal = Journal(request.out / "kernel.jsonl")
    progress = _Progress()
    with watched("on the kernel") as watcher:
        watcher.expect(len(journal.missing(plan)))

        def done(cell: Cell, outcome: Measured | Failure) -> None:
            watcher.done(cell.scheme)
            if isinstance(outcome, Failure):
                progress.failures.append(outcome)

        try:
            measure(simulated, journal, done, seeds)
        except LinuxError as error:
            raise InputError(str(error)) from error
        except KeyboardInterrupt:
            progress.interrupted = True
    progress.missing = len(journal.missing(plan))
    runs = journal.read(plan)
    goodputs = {cell: each.goodputs_bps for cell, each in simulated.items()}
    _finish(request, findings(grid, goodputs, runs), runs, progress)


def _finish(
    request: Request, found: Sequence[Finding], runs: Sequence[Measured], progress: _Progress
) -> None:
    console = plain_console()
    if found:
        console.print(verdict(found, progress.missing))
        kernel = ", ".join(sorted({run.kernel for run in runs}))
        docs = None if progress.missing else request.docs
        _write(request.out, docs, found, page(found, section(runs), kernel, progress.missing))
    if request.docs and progress.missing:
        console.print(f"{request.docs}/ is left as it was until all have run.")
    for note in failure_notes(progress.failures):
        console.print(note)
    if progress.interrupted:
        console.print("Interrupted: the same command goes on from here.")
        raise typer.Exit(INTERRUPTED)
    if progress.failures:
        raise typer.Exit(FAILED)


def _write(out: Path, docs: Path | None, found: Sequence[Finding], text: str) -> None:
    with style(), writing(out):
        drawn = ratios(found)
        save(drawn, out, "fidelity")
        (out / "fidelity.md").write_text(text, encoding="utf-8")
        if docs:
            save_svg(drawn, docs / FIGURES, "fidelity")
            (docs / "fidelity.md").write_text(text, encoding="utf-8")
