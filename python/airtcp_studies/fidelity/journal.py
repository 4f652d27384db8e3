"""Results of runs; those on the kernel are saved as they arrive."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from airtcp.facts.records import Run
from airtcp_studies.fidelity.grid import Cell, Point


@dataclass(frozen=True)
class Outcome:
    """The result of one run, on either side."""

    goodput_bps: float
    """Of all flows together."""
    first: float
    """The first flow's share of that goodput."""
    retransmitted: float
    """Share of the data packets sent."""
    rtt_ms: float | None
    """Median of the first flow."""
    timeouts: int
    completion_s: float | None
    """Mean of the completed transfers."""


def outcome(run: Run) -> Outcome:
    flows = run["flows"]
    goodput_bps = sum(flow["goodput_bps"] for flow in flows)
    completions = [time_s for flow in flows for time_s in flow["completion_times_s"]]
    return Outcome(
        round(goodput_bps),
        _share(flows[0]["goodput_bps"], goodput_bps),
        _share(
            sum(flow["retransmissions"] for flow in flows), sum(flow["data_packets_sent"] for flow in flows)
        ),
        None if flows[0]["rtt_p50_ms"] is None else round(flows[0]["rtt_p50_ms"], 3),
        sum(flow["timeouts"] for flow in flows),
        round(fmean(completions), 6) if completions else None,
    )


def _share(part: float, whole: float) -> float:
    return round(part / whole, 6) if whole else 0.0


@dataclass(frozen=True)
class Measured:
    """One run on the kernel."""

    cell: Cell
    seed: int
    outcome: Outcome
    late_ms: float
    """Mean lateness of packets that left the emulator."""
    kernel: str
    """Its release."""
    date: str
    """The date, as 2026-11-23."""


class Journal:
    """Runs on the kernel, one line each; runs in it are not repeated."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._runs: dict[Cell, dict[int, Measured]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._keep(_run(json.loads(line)))

    def of(self, cell: Cell, most: int) -> list[Measured]:
        """Returns its runs with the first seeds, up to the first that is missing. An earlier plan may have
        had more."""
        runs = self._runs.get(cell, {})
        seeds = range(1, most + 1)
        return [runs[seed] for seed in seeds if all(before in runs for before in range(1, seed + 1))]

    def add(self, run: Measured) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(_fields(run)) + "\n")
        self._keep(run)

    def _keep(self, run: Measured) -> None:
        self._runs.setdefault(run.cell, {})[run.seed] = run


def _fields(run: Measured) -> dict[str, Any]:
    """Returns the fields that differ from their defaults."""
    fields = asdict(run)
    fields["cell"]["point"] = {key: value for key, value in fields["cell"]["point"].items() if value}
    fields["cell"] = {key: value for key, value in fields["cell"].items() if value}
    return fields


def _run(fields: dict[str, Any]) -> Measured:
    cell = dict(fields.pop("cell"))
    point = {"rate_mbps": 0.0, **cell.pop("point")}
    return Measured(Cell(point=Point(**point), **cell), outcome=Outcome(**fields.pop("outcome")), **fields)
