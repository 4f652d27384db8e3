"""Runs the grid, in the simulator and on the kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from airtcp.compare import Request, compare_all
from airtcp.failure import Failure
from airtcp.fidelity.findings import Journal, Measured
from airtcp.fidelity.grid import DURATION_S, Cell, scenario
from airtcp.linux import Job, KernelRun, run_all
from airtcp.records import Run

KERNEL_SEEDS = 3
PACKETS_PER_S = 19_000.0
"""Over all emulated links together: what two cores keep up with beside the TCPs themselves."""
AT_A_TIME = (24, 12, 8, 6, 4, 3, 2)
MOST_LATE = 0.05
"""A run whose packets left later than this share of the RTT tells of the machine: it is made again, alone."""


@dataclass(frozen=True)
class Simulated:
    """What the simulator gave for one cell."""

    goodputs_bps: list[float]
    packets_per_s: float
    """Over the link, both ways."""


def simulate(cells: Sequence[Cell], seeds: int = KERNEL_SEEDS) -> dict[Cell, Simulated]:
    """Raises KeyboardInterrupt."""
    requests = [Request(scenario(cell).vary(seeds=seeds)) for cell in cells]
    found = compare_all(requests)
    if any(comparison.interrupted for comparison in found):
        raise KeyboardInterrupt
    return {cell: _simulated(comparison.runs) for cell, comparison in zip(cells, found, strict=True)}


def _simulated(runs: Sequence[Run]) -> Simulated:
    packets = [sum(link["packets_arrived"] for link in run["links"]) for run in runs]
    return Simulated([run["goodput_bps"] for run in runs], fmean(packets) / DURATION_S)


def measure(
    simulated: dict[Cell, Simulated],
    journal: Journal,
    on_done: Callable[[Cell, Measured | Failure], object],
    seeds: int = KERNEL_SEEDS,
) -> None:
    """Runs on the kernel what is not in the journal yet, seed by seed.

    Runs that send little go side by side, those that send much alone; one that was late is made again, alone.
    """
    todo = journal.missing(planned(simulated, seeds))
    for seed in range(1, seeds + 1):
        cells = [cell for cell in simulated if (cell, seed) in todo]
        late: list[Cell] = []
        for at_a_time, wave in _waves(cells, simulated):
            late += _run(wave, seed, at_a_time, journal, on_done, most_late=MOST_LATE)
        _run(late, seed, 1, journal, on_done)


def planned(cells: Iterable[Cell], seeds: int) -> set[tuple[Cell, int]]:
    """What runs with which seeds: where nothing is lost at random, one run tells as much as several."""
    return {(cell, seed) for cell in cells for seed in range(1, (seeds if cell.point.is_lossy else 1) + 1)}


def _run(
    cells: Sequence[Cell],
    seed: int,
    at_a_time: int,
    journal: Journal,
    on_done: Callable[[Cell, Measured | Failure], object],
    most_late: float = math.inf,
) -> list[Cell]:
    """Answers those that were later than that, which are not kept."""
    late = []
    jobs = [Job(scenario(cell), cell.scheme, seed) for cell in cells]
    # Two cells may be the same path, in words of their own.
    cell_of = {id(job): cell for job, cell in zip(jobs, cells, strict=True)}

    def keep(job: Job, outcome: KernelRun | Failure) -> None:
        cell = cell_of[id(job)]
        found = outcome if isinstance(outcome, Failure) else _measured(cell, seed, outcome)
        if isinstance(found, Measured):
            if found.late_ms > most_late * cell.point.rtt_ms:
                late.append(cell)
                return
            journal.add(found)
        on_done(cell, found)

    run_all(jobs, at_a_time, keep)
    return late


def _waves(cells: Sequence[Cell], simulated: dict[Cell, Simulated]) -> Iterator[tuple[int, list[Cell]]]:
    """How many at a time, and which."""

    def at_a_time(cell: Cell) -> int:
        fit = PACKETS_PER_S / max(1.0, simulated[cell].packets_per_s)
        return next((n for n in AT_A_TIME if n <= fit), 1)

    for n, wave in groupby(sorted(cells, key=at_a_time), key=at_a_time):
        yield n, list(wave)


def _measured(cell: Cell, seed: int, outcome: KernelRun) -> Measured:
    late_ms = outcome.host["lateness"]["mean_us"] / 1000
    return Measured(cell, seed, outcome.run["goodput_bps"], late_ms, outcome.host["kernel"].partition("-")[0])
