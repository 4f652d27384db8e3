"""The machine whose kernel made the runs, and how well it kept up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from airtcp.linux.place import Place

LATE_SHARE = 0.05
"""Share of late packets on the emulated path above which a result also measures the machine."""


@dataclass(frozen=True)
class Host:
    """A Linux machine and its runs. `late` counts packets that left the path over 0.2 ms late."""

    kernel: str
    airtcpd: str
    departures: int
    late: int
    late_mean_us: float
    """Mean delay with which packets left, including punctual ones."""
    late_max_us: float
    lost: int
    """Packets lost by the machine, not by the path."""
    runs: tuple[dict[str, Any], ...]
    """The report of `airtcpd` on each run: its congestion control, sysctls, counters, lateness, notes."""

    @property
    def late_share(self) -> float:
        return self.late / self.departures if self.departures else 0.0

    @property
    def notes(self) -> list[str]:
        """How runs differ from the simulator, and whether the machine kept up."""
        said: dict[str, list[str]] = {}
        for run in self.runs:
            for note in run["notes"]:
                schemes = said.setdefault(note, [])
                if run["scheme"] not in schemes:
                    schemes.append(run["scheme"])
        notes = [f"{', '.join(schemes)}: {note}" for note, schemes in said.items()]
        if self.late_share > LATE_SHARE:
            notes.append(
                f"Warning: {100 * self.late_share:.1f} % of the packets left the emulated path late, by up to"
                f" {self.late_max_us / 1000:.1f} ms: this machine could not keep up. Run fewer at a time, on"
                " an idle machine, or at a lower rate."
            )
        if self.lost:
            notes.append(
                f"Warning: this machine lost {self.lost} packets that the emulated path did not; senders saw"
                " them as losses, and no column counts them. Run fewer at a time, on an idle machine, or at"
                " a lower rate."
            )
        return notes


def host_of(place: Place, told: Sequence[dict[str, Any]]) -> Host:
    """Returns the machine that has made these runs, with the totals of all."""
    lateness = [run["lateness"] for run in told]
    departures = sum(each["departures"] for each in lateness)
    total_us = sum(each["departures"] * each["mean_us"] for each in lateness)
    return Host(
        place.kernel,
        place.version,
        departures,
        sum(each["late"] for each in lateness),
        total_us / departures if departures else 0.0,
        max((each["max_us"] for each in lateness), default=0.0),
        sum(run["lost_by_machine"] for run in told),
        tuple(told),
    )
