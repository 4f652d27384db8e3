"""What both backends gave, kept as it comes in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from airtcp.fidelity.grid import Cell, Point
from airtcp.stats import Estimate, estimate

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
    """One cell: goodputs in bit/s, a value a seed."""

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
    def difference(self) -> Estimate:
        """The kernel's mean less the simulator's, as a share of that, with its interval (Welch's)."""
        simulated, measured = estimate(self.simulated), estimate(self.measured)
        halves = [part.half_width or 0.0 for part in (simulated, measured)]
        width = sum(half**2 for half in halves) ** 0.5
        return Estimate(measured.mean - simulated.mean, width, measured.n).scaled(1 / simulated.mean)


class Journal:
    """Runs on the kernel, a line each: what is there is not run again."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> list[Measured]:
        if not self._path.exists():
            return []
        lines = self._path.read_text(encoding="utf-8").splitlines()
        return [_run(json.loads(line)) for line in lines]

    def add(self, run: Measured) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(run)) + "\n")


def _run(fields: dict[str, Any]) -> Measured:
    cell = Cell(fields["cell"]["scheme"], Point(**fields["cell"]["point"]))
    return Measured(cell, fields["seed"], fields["goodput_bps"], fields["late_ms"], fields["kernel"])


def findings(
    cells: Iterable[Cell], simulated: dict[Cell, list[float]], runs: Sequence[Measured]
) -> list[Finding]:
    """Of the cells that ran on both."""
    measured: dict[Cell, list[float]] = {}
    for run in sorted(runs, key=lambda run: (run.cell, run.seed)):
        measured.setdefault(run.cell, []).append(run.goodput_bps)
    return [Finding(cell, simulated[cell], measured[cell]) for cell in cells if cell in measured]
