"""Implements `airtcp fidelity`; its options are in `fidelity`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import typer

from airtcp.asking.on_linux import kernel_place
from airtcp.cli.console import plain_console
from airtcp.cli.errors import FAILED, INTERRUPTED, InputError, check_outputs, writing
from airtcp.facts.failure import Failure, failure_notes
from airtcp.linux.error import LinuxError
from airtcp.running.progress import watched
from airtcp.showing.figures.style import save_svg, style
from airtcp_studies.fidelity import findings
from airtcp_studies.fidelity.anchor import ANCHOR_MBPS, section
from airtcp_studies.fidelity.circuit_journal import CIRCUITS, CircuitJournal, OnLinux
from airtcp_studies.fidelity.circuit_page import CircuitRuns, circuit_section
from airtcp_studies.fidelity.circuits import KEPT_ROWS, PAPERS_ROWS, Row
from airtcp_studies.fidelity.grid import KERNELS_OWN, Cell, between_kernels, cells
from airtcp_studies.fidelity.journal import Journal, Measured
from airtcp_studies.fidelity.judge import Compared
from airtcp_studies.fidelity.kernels import FINDINGS, PAGE, journal_of, kernels_page
from airtcp_studies.fidelity.measure import Comparer, Repeats, Simulator
from airtcp_studies.fidelity.page import page, verdict
from airtcp_studies.fidelity.plot import differences

FIGURES = "figures"
JOURNAL = "kernel.jsonl"
MOST = 12
MOST_QUICK = 3
ANCHORED = 2
"""Runs of a cell of the anchor, of which only means are compared."""


@dataclass(frozen=True)
class Request:
    """The options of `airtcp fidelity`."""

    seeds: int | None
    quick: bool
    recorded: bool
    traces: Path | None
    out: Path
    docs: Path | None
    kernel: str | None = None

    @property
    def pages(self) -> Path:
        """Where the page is written."""
        return self.docs or self.out

    @property
    def most(self) -> int:
        return self.seeds or (MOST_QUICK if self.quick else MOST)


@dataclass
class _Progress:
    """Progress of the runs on the kernel."""

    failures: list[Failure] = field(default_factory=list)
    interrupted: bool = False
    missing: int = 0


@dataclass(frozen=True)
class _Part:
    """A set of cells, and how both sides run them."""

    cells: Sequence[Cell]
    comparer: Comparer


@dataclass(frozen=True)
class _Circuits:
    """The rows on circuits, and how both sides run what they need."""

    rows: Sequence[Row]
    runs: CircuitRuns


def run_fidelity(request: Request) -> None:
    if request.kernel:
        _run_in_guests(request, request.kernel)
        return
    check_outputs(request.out)
    check_outputs(request.pages / FIGURES)
    found = _findings(request.out / findings.FILE)
    journal = Journal(request.out / JOURNAL)
    simulator = Simulator(request.traces)
    grid = _Part(
        cells(quick=request.quick, traces=request.traces),
        Comparer(simulator, journal, Repeats(most=request.most)),
    )
    anchor = _Part(
        [] if request.quick else list(ANCHOR_MBPS),
        Comparer(simulator, journal, Repeats(most=min(request.most, ANCHORED))),
    )
    circuits = _Circuits(
        [] if request.quick else [*PAPERS_ROWS, *KEPT_ROWS],
        CircuitRuns(CircuitJournal(request.out / CIRCUITS)),
    )
    progress = _Progress()
    if not request.recorded:
        _measure([grid, anchor], circuits, progress)
    compared = grid.comparer.compared(grid.cells)
    anchored = [run for cell in anchor.cells for run in journal.of(cell, ANCHORED)]
    runs = [run for cell in grid.cells for run in journal.of(cell, request.most)]
    unfinished = len(grid.comparer.missing(grid.cells)) if request.recorded else 0
    _finish(request, compared, found, [*runs, *anchored], circuits, progress, unfinished)


def _run_in_guests(request: Request, kernel: str) -> None:
    """Runs cells on one of Debian's kernels, and writes the page on all kernels that have run."""
    check_outputs(request.out)
    check_outputs(request.pages)
    causes = _findings(request.out / FINDINGS)
    place = None if request.recorded else kernel_place(kernel)
    simulator = Simulator()
    journal = Journal(journal_of(request.out, kernel))
    comparer = Comparer(simulator, journal, Repeats(most=request.most), place)
    few = between_kernels() if request.quick else cells()
    wanted = [cell for cell in few if cell.scheme in KERNELS_OWN]
    progress = _Progress()
    if place:
        _measure(
            [_Part(wanted, comparer)],
            _Circuits([], CircuitRuns(CircuitJournal(request.out / CIRCUITS))),
            progress,
        )
    console = plain_console()
    if found := comparer.compared(wanted):
        for line in verdict(found, [], progress.missing):
            console.print(line)
        host = Journal(request.out / JOURNAL)
        text = kernels_page(request.out, host, simulator, wanted, request.most, causes)
        with writing(request.pages):
            (request.pages / PAGE).write_text(text, encoding="utf-8")
    for note in failure_notes(progress.failures):
        console.print(note)
    if progress.interrupted:
        raise typer.Exit(INTERRUPTED)
    if progress.failures:
        raise typer.Exit(FAILED)


def _findings(path: Path) -> Sequence[findings.Finding]:
    try:
        return findings.read(path)
    except findings.FindingsError as error:
        raise InputError(str(error)) from error


def _measure(parts: Sequence[_Part], circuits: _Circuits, progress: _Progress) -> None:
    with watched("on the kernel") as watcher:

        def done(cell: Cell, outcome: Measured | Failure) -> None:
            watcher.done(cell.scheme)
            if isinstance(outcome, Failure):
                progress.failures.append(outcome)

        def circuit_done(setting: str, outcome: OnLinux | Failure) -> None:
            watcher.done(setting)
            if isinstance(outcome, Failure):
                progress.failures.append(outcome)

        try:
            for part in parts:
                part.comparer.measure(part.cells, watcher.expect, done)
            circuits.runs.measure(circuits.rows, watcher.expect, circuit_done)
        except LinuxError as error:
            raise InputError(str(error)) from error
        except KeyboardInterrupt:
            progress.interrupted = True
    missing = sum(len(part.comparer.missing(part.cells)) for part in parts)
    progress.missing = missing + len(circuits.runs.missing(circuits.rows))


def _finish(
    request: Request,
    compared: Sequence[Compared],
    found: Sequence[findings.Finding],
    runs: Sequence[Measured],
    circuits: _Circuits,
    progress: _Progress,
    unfinished: int,
) -> None:
    console = plain_console()
    if compared:
        for line in verdict(compared, found, progress.missing):
            console.print(line)
        if not progress.missing:
            _write(request, compared, _page(compared, found, runs, circuits, unfinished))
    elif request.recorded:
        raise InputError(f"{request.out / JOURNAL} has no runs of these cells; omit --recorded to make them")
    if progress.missing:
        console.print("The page is written once all cells have run.")
    for note in failure_notes(progress.failures):
        console.print(note)
    if progress.interrupted:
        console.print("Interrupted: run the same command to continue.")
        raise typer.Exit(INTERRUPTED)
    if progress.failures:
        raise typer.Exit(FAILED)


def _page(
    compared: Sequence[Compared],
    found: Sequence[findings.Finding],
    runs: Sequence[Measured],
    circuits: _Circuits,
    unfinished: int,
) -> str:
    kernel, date = (
        ", ".join(sorted(set(told))) for told in zip(*((r.kernel, r.date) for r in runs), strict=True)
    )
    sections = [*circuit_section(circuits.runs, circuits.rows), *section(runs)]
    return page(compared, found, sections, kernel, date, unfinished)


def _write(request: Request, compared: Sequence[Compared], text: str) -> None:
    with style(), writing(request.pages):
        save_svg(differences(compared), request.pages / FIGURES, "fidelity")
        (request.pages / "fidelity.md").write_text(text, encoding="utf-8")
