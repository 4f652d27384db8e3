"""Results of runs with circuits; those on Linux are saved as they arrive."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from airtcp.facts.records import Flow, Run

CIRCUITS = "circuits.jsonl"
"""The file's name."""


@dataclass(frozen=True)
class Told:
    """The part of a run's record that is used. Flows of the same name are summed."""

    goodput_bps: dict[str, float]
    throughput_bps: dict[str, float]
    dropped: int
    """Data packets dropped by queues."""
    forwarded_bytes: int
    """Summed over all circuits, like the fields below."""
    header_bytes: int
    header_ack_bytes: int

    @property
    def overhead_percent(self) -> tuple[float, float]:
        """Header packets and their ACKs, in percent of the data's bytes."""
        forward, back = self.header_bytes, self.header_ack_bytes
        return 100 * forward / self.forwarded_bytes, 100 * back / self.forwarded_bytes


def told(run: Run) -> Told:
    flows, circuits = run["flows"], run["circuits"]

    def by_name(rate: Callable[[Flow], float]) -> dict[str, float]:
        sums: dict[str, float] = {}
        for flow in flows:
            sums[flow["name"]] = sums.get(flow["name"], 0.0) + rate(flow)
        return {name: round(total) for name, total in sums.items()}

    return Told(
        by_name(lambda flow: flow["goodput_bps"]),
        by_name(lambda flow: flow["throughput_bps"]),
        sum(flow["losses_congestion"] for flow in flows),
        sum(circuit["forwarded_bytes"] for circuit in circuits),
        sum(circuit["header_bytes_sent"] for circuit in circuits),
        sum(circuit["control_ack_bytes_sent"] for circuit in circuits),
    )


@dataclass(frozen=True)
class OnLinux:
    """One run on Linux."""

    setting: str
    seed: int
    told: Told
    late_ms: float
    """Mean lateness of packets that left the emulator."""
    kernel: str
    date: str


class CircuitJournal:
    """One line per run; runs in it are not repeated."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._runs: dict[tuple[str, int], OnLinux] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                fields = json.loads(line)
                self._keep(OnLinux(**{**fields, "told": Told(**fields["told"])}))

    def has(self, setting: str, seed: int) -> bool:
        return (setting, seed) in self._runs

    def of(self, setting: str, seed: int) -> OnLinux:
        return self._runs[setting, seed]

    def add(self, run: OnLinux) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(run)) + "\n")
        self._keep(run)

    def _keep(self, run: OnLinux) -> None:
        self._runs[run.setting, run.seed] = run
