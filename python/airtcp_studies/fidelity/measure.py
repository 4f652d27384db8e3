"""Runs cells in the simulator and on the kernel, as often as their intervals require."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from os import cpu_count
from pathlib import Path

from airtcp._engine import CancelToken
from airtcp.facts.failure import Failure
from airtcp.facts.records import Run
from airtcp.linux.place import Place
from airtcp.linux.runs import Job, KernelRun, run_all
from airtcp.running import jobs
from airtcp.running.watching import Silent, Watcher
from airtcp_studies.fidelity.grid import Cell, scenario
from airtcp_studies.fidelity.journal import Journal, Measured, Outcome, outcome
from airtcp_studies.fidelity.judge import Compared

PACKETS_PER_S = 19_000.0
"""Over all emulated links: what two cores sustain beside the TCPs themselves."""
AT_A_TIME = (24, 12, 8, 6, 4, 3, 2)
MOST_LATE = 0.05
"""Share of the RTT: a run whose packets left later was disturbed by the machine and is repeated."""


@dataclass(frozen=True)
class Repeats:
    """How often a cell runs on the kernel."""

    clean: int = 2
    """At least this often if nothing is lost at random."""
    lossy: int = 3
    most: int = 12

    def first(self, cell: Cell) -> int:
        return min(self.most, self.lossy if cell.point.is_lossy else self.clean)


@dataclass(frozen=True)
class _Simulated:
    """The simulator's result for one seed."""

    outcome: Outcome
    packets_per_s: float
    """Over the link, in both directions."""


@dataclass
class Simulator:
    """Runs of the simulator, made on demand."""

    traces: Path | None = None
    watcher: Watcher = field(default_factory=Silent)
    _known: dict[tuple[Cell, int], _Simulated] = field(default_factory=dict)

    def prepare(self, wanted: Iterable[tuple[Cell, int]]) -> None:
        """Runs those not known yet, on all cores."""
        todo = [each for each in wanted if each not in self._known]
        self.watcher.expect(len(todo))
        cancel = CancelToken()

        def run(each: tuple[Cell, int]) -> tuple[tuple[Cell, int], _Simulated]:
            cell, seed = each
            record = scenario(cell, seed, self.traces).run(cell.runs, seed, cancel=cancel)
            return each, _simulated(json.loads(record.to_json()))

        def keep(done: tuple[tuple[Cell, int], _Simulated]) -> None:
            self._known[done[0]] = done[1]
            self.watcher.done(done[0][0].scheme)

        jobs.run_all(run, todo, jobs.Pool(cpu_count() or 1), cancel, keep)

    def outcomes(self, cell: Cell, seeds: int) -> list[Outcome]:
        self.prepare((cell, seed) for seed in range(1, seeds + 1))
        return [self._known[cell, seed].outcome for seed in range(1, seeds + 1)]

    def packets_per_s(self, cell: Cell, seed: int) -> float:
        self.prepare([(cell, seed)])
        return self._known[cell, seed].packets_per_s


def _simulated(run: Run) -> _Simulated:
    packets = sum(link["packets_arrived"] for link in run["links"])
    return _Simulated(outcome(run), packets / (run["duration_s"] - run["warmup_s"]))


@dataclass(frozen=True)
class Comparer:
    """Both sides."""

    simulator: Simulator
    journal: Journal
    repeats: Repeats
    place: Place | None = None
    """Where runs are made; None for this host's kernel."""

    def compared(self, cells: Sequence[Cell]) -> list[Compared]:
        """Returns the cells that have run on the kernel."""
        runs = {cell: self.journal.of(cell, self.repeats.most) for cell in cells}
        self.simulator.prepare((run.cell, run.seed) for found in runs.values() for run in found)
        return [
            Compared(cell, self.simulator.outcomes(cell, len(found)), [run.outcome for run in found])
            for cell, found in runs.items()
            if found
        ]

    def missing(self, cells: Sequence[Cell]) -> list[tuple[Cell, int]]:
        """Returns the next seed of each cell that needs one more."""
        settled = {each.cell for each in self.compared(cells) if each.is_settled}
        counts = {cell: len(self.journal.of(cell, self.repeats.most)) for cell in cells}
        return [
            (cell, count + 1)
            for cell, count in counts.items()
            if count < self.repeats.first(cell) or (count < self.repeats.most and cell not in settled)
        ]

    def measure(
        self,
        cells: Sequence[Cell],
        on_round: Callable[[int], object],
        on_done: Callable[[Cell, Measured | Failure], object],
    ) -> None:
        """Runs on the kernel what is missing, one seed per cell and round, until nothing is.

        `on_round` gets the number of runs to come. Runs that send little are made in parallel, those that
        send much alone; a late one is repeated alone. A cell that failed is not repeated.
        """
        failed: set[Cell] = set()

        def done(cell: Cell, found: Measured | Failure) -> None:
            if isinstance(found, Failure):
                failed.add(cell)
            on_done(cell, found)

        while todo := [each for each in self.missing(cells) if each[0] not in failed]:
            on_round(len(todo))
            late: list[tuple[Cell, int]] = []
            for at_a_time, wave in self._waves(todo):
                late += self._run(wave, at_a_time, done, MOST_LATE)
            self._run(late, 1, done, math.inf)

    def _waves(self, todo: Sequence[tuple[Cell, int]]) -> Iterator[tuple[int, list[tuple[Cell, int]]]]:
        """Yields the number of parallel runs, and the runs."""
        self.simulator.prepare(todo)
        if self.place and not self.place.in_real_time:
            # What sends little is soon there.
            yield self.place.at_a_time, sorted(todo, key=lambda each: self.simulator.packets_per_s(*each))
            return

        def at_a_time(each: tuple[Cell, int]) -> int:
            fit = PACKETS_PER_S / max(1.0, self.simulator.packets_per_s(*each))
            return next((n for n in AT_A_TIME if n <= fit), 1)

        for n, wave in groupby(sorted(todo, key=at_a_time), key=at_a_time):
            yield n, list(wave)

    def _run(
        self,
        todo: Sequence[tuple[Cell, int]],
        at_a_time: int,
        on_done: Callable[[Cell, Measured | Failure], object],
        most_late: float,
    ) -> list[tuple[Cell, int]]:
        """Returns the runs that were later than `most_late`, which are not kept."""
        late: list[tuple[Cell, int]] = []
        planned = [Job(scenario(cell, seed, self.simulator.traces), cell.runs, seed) for cell, seed in todo]
        # Two cells may be the same path under different names.
        cell_of = {id(job): cell for job, (cell, _) in zip(planned, todo, strict=True)}

        def keep(job: Job, told: KernelRun | Failure) -> None:
            cell = cell_of[id(job)]
            found = told if isinstance(told, Failure) else _measured(cell, job.seed, told)
            if isinstance(found, Measured):
                if found.late_ms > most_late * cell.point.rtt_ms:
                    late.append((cell, job.seed))
                    return
                self.journal.add(found)
            on_done(cell, found)

        run_all(planned, at_a_time, keep, place=self.place)
        return late


def _measured(cell: Cell, seed: int, told: KernelRun) -> Measured:
    return Measured(cell, seed, outcome(told.run), *circumstances(told))


def circumstances(told: KernelRun) -> tuple[float, str, str]:
    """Returns the emulator's mean lateness in ms, the kernel's version, and today's date."""
    return (
        round(told.host["lateness"]["mean_us"] / 1000, 4),
        told.host["kernel"].partition("-")[0],
        datetime.now(UTC).date().isoformat(),
    )
