"""What both backends gave, kept as it comes in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from airtcp.fidelity.grid import Cell, Point
from airtcp.stats import Estimate, relative_gain

CLOSE = 0.1
"""How far the kernel's goodput may be from the simulator's."""


@dataclass(frozen=True)
class Measured:
    """One run on the kernel."""

    cell: Cell
    seed: int
    goodput_bps: float
    late_ms: float
    """How long after their time packets left the emulator, in the mean."""
    kernel: str
    """Its release."""


@dataclass(frozen=True)
class Finding:
    """One cell: goodputs in bit/s, a value a seed, the same seeds on both: they draw the same losses."""

    cell: Cell
    simulated: Sequence[float]
    measured: Sequence[float]

    @property
    def ratio(self) -> float:
        """Mean of the kernel over that of the simulator."""
        return fmean(self.measured) / fmean(self.simulated)

    @property
    def is_close(self) -> bool:
        return abs(self.ratio - 1) <= CLOSE

    @property
    def difference(self) -> Estimate | None:
        """The kernel's goodput less the simulator's, as a share of that."""
        return relative_gain(self.measured, self.simulated)


class Journal:
    """Runs on the kernel, a line each: what is there is not run again."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, plan: Set[tuple[Cell, int]]) -> list[Measured]:
        """Those of the plan, which are cells with seeds: an earlier one may have been larger."""
        if not self._path.exists():
            return []
        lines = self._path.read_text(encoding="utf-8").splitlines()
        runs = (_run(json.loads(line)) for line in lines)
        return [run for run in runs if (run.cell, run.seed) in plan]

    def missing(self, plan: Set[tuple[Cell, int]]) -> Set[tuple[Cell, int]]:
        """What of the plan has not run."""
        return plan - {(run.cell, run.seed) for run in self.read(plan)}

    def add(self, run: Measured) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(run)) + "\n")


def _run(fields: dict[str, Any]) -> Measured:
    cell = Cell(fields["cell"]["scheme"], Point(**fields["cell"]["point"]))
    return Measured(cell, fields["seed"], fields["goodput_bps"], fields["late_ms"], fields["kernel"])


def findings(
    cells: Iterable[Cell], simulated: Mapping[Cell, Sequence[float]], runs: Sequence[Measured]
) -> list[Finding]:
    """Of the cells that ran on both."""
    measured: dict[Cell, dict[int, float]] = {}
    for run in sorted(runs, key=lambda run: run.seed):
        measured.setdefault(run.cell, {})[run.seed] = run.goodput_bps
    return [
        Finding(
            cell, [simulated[cell][seed - 1] for seed in sorted(seeds)], [seeds[s] for s in sorted(seeds)]
        )
        for cell, seeds in ((cell, measured[cell]) for cell in cells if cell in measured)
    ]
