"""Runs the grid, in the simulator and on the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from airtcp.compare import Request, compare_all
from airtcp.failure import Failure
from airtcp.fidelity.findings import Journal, Measured
from airtcp.fidelity.grid import DURATION_S, Cell, scenario
from airtcp.linux import Job, KernelRun, run_all
from airtcp.records import Run

SIMULATED_SEEDS = 10
KERNEL_SEEDS = 3
PACKETS_PER_S = 6000.0
"""Over all emulated links together: what two cores keep up with beside the TCPs themselves."""
MOST_AT_A_TIME = 16
MOST_LATE = 0.01
"""A run with more late packets than this tells of the machine, not of the kernel: it is made again, alone."""


@dataclass(frozen=True)
class Simulated:
    """What the simulator gave for one cell."""

    goodputs_bps: list[float]
    packets_per_s: float
    """Over the link, both ways."""


def simulate(cells: Sequence[Cell]) -> dict[Cell, Simulated]:
    requests = [Request(scenario(cell).vary(seeds=SIMULATED_SEEDS)) for cell in cells]
    found = compare_all(requests)
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
    """Runs on the kernel what is not in the journal yet.

    Runs that send little go side by side, those that send much alone; one that was late is made again, alone.
    """
    done = {(known.cell, known.seed) for known in journal.read()}
    todo = [(cell, seed) for seed in range(1, seeds + 1) for cell in simulated if (cell, seed) not in done]
    late: list[tuple[Cell, int]] = []

    def run(wave: Sequence[tuple[Cell, int]], at_a_time: int, *, again: bool) -> None:
        jobs = {_job(cell, seed): cell for cell, seed in wave}

        def keep(job: Job, outcome: KernelRun | Failure) -> None:
            cell = jobs[job]
            if isinstance(outcome, Failure):
                on_done(cell, outcome)
                return
            found = _measured(cell, job.seed, outcome)
            if found.late_share > MOST_LATE and not again:
                late.append((cell, job.seed))
                return
            journal.add(found)
            on_done(cell, found)

        run_all(list(jobs), at_a_time, keep)

    for at_a_time, wave in _waves(todo, simulated):
        run(wave, at_a_time, again=False)
    run(late, 1, again=True)


def _waves(
    todo: Sequence[tuple[Cell, int]], simulated: dict[Cell, Simulated]
) -> Iterator[tuple[int, list[tuple[Cell, int]]]]:
    """How many at a time, and which."""

    def at_a_time(job: tuple[Cell, int]) -> int:
        fit = PACKETS_PER_S / max(1.0, simulated[job[0]].packets_per_s)
        return next((n for n in (MOST_AT_A_TIME, 8, 4, 2) if n <= fit), 1)

    for n, wave in groupby(sorted(todo, key=at_a_time), key=at_a_time):
        yield n, list(wave)


def _job(cell: Cell, seed: int) -> Job:
    return Job(scenario(cell), cell.scheme, seed)


def _measured(cell: Cell, seed: int, outcome: KernelRun) -> Measured:
    lateness = outcome.host["lateness"]
    share = lateness["late"] / lateness["departures"] if lateness["departures"] else 0.0
    return Measured(cell, seed, outcome.run["goodput_bps"], share, outcome.host["kernel"])
