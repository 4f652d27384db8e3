"""Measures a path that really runs, with all of its tools."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from airtcp._engine import Scenario
from airtcp.fit.detect import read
from airtcp.linux.airtcpd import Airtcpd
from airtcp_studies.calibration.claims import Measured
from airtcp_studies.calibration.journal import Circumstances
from airtcp_studies.calibration.paths import ACK_BYTES, FULL_BYTES, PROBERS, TRANSFERS, KnownPath, Tool
from airtcp_studies.calibration.real.hosts import joined, lateness_ms
from airtcp_studies.calibration.real.tools import FILES, LARGE, PROBE_BYTES, probe, probe_large, transfer

RECORD = "record.json"
BARE_DELAY_S = 0.002
"""`ping` prints three digits, which here are a hundredth of a millisecond."""


@dataclass(frozen=True)
class Extent:
    """How much is measured."""

    probes: int = 600
    spacing_s: float = 0.1
    dense_s: float = 0.02
    """Spacing where delay does not vary."""
    transfer_s: float = 20.0
    few: int = 100
    """Probes of each length before a hole."""


def measure(path: KnownPath, folder: Path, airtcpd: Airtcpd, extent: Extent) -> None:
    """Leaves the tools' files in `folder`, and the circumstances, unless they are there already."""
    if (folder / RECORD).exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    spacing_s = extent.spacing_s if path.is_probed else extent.dense_s
    with joined(path.scenario, path.number + 1, airtcpd, folder, mtu_bytes=path.mtu_bytes) as ends:
        for tool in PROBERS:
            if tool in path.tools:
                probe(ends, tool, folder, count=extent.probes, spacing_s=spacing_s)
        if "two pings" in path.tools:
            probe(ends, "ping", folder, count=extent.few, spacing_s=spacing_s)
            probe_large(ends, folder, count=extent.few, spacing_s=spacing_s)
        if set(path.tools) & set(TRANSFERS):
            transfer(ends, folder, for_s=extent.transfer_s)
    now = datetime.now(UTC).date().isoformat()
    found = Circumstances(round(lateness_ms(folder), 4), os.uname().release.partition("-")[0], now)
    (folder / RECORD).write_text(json.dumps(asdict(found)), encoding="utf-8")


def circumstances(folder: Path) -> Circumstances:
    return Circumstances(**json.loads((folder / RECORD).read_text(encoding="utf-8")))


def measured(path: KnownPath, folder: Path, hosts_s: dict[Tool, float]) -> list[Measured]:
    """Returns what the tools have written."""
    return [_measured(tool, folder, hosts_s) for tool in path.tools]


def _measured(tool: Tool, folder: Path, hosts_s: dict[Tool, float]) -> Measured:
    if tool in PROBERS:
        return Measured(tool, (folder / FILES[tool],), 2 * PROBE_BYTES[tool], hosts_s[tool])
    of_ping = 2 * PROBE_BYTES["ping"]
    if tool == "ping under load":
        return Measured(tool, (folder / FILES[tool],), of_ping, hosts_s["ping"])
    if tool == "ping, iperf3":
        return Measured(tool, (folder / FILES["ping"], folder / FILES["iperf3"]), of_ping, hosts_s["ping"])
    if tool == "two pings":
        return Measured(tool, (folder / FILES["ping"], folder / LARGE), of_ping, hosts_s["ping"])
    return Measured(tool, (folder / FILES[tool],), FULL_BYTES + ACK_BYTES, hosts_s["ping"])


def hosts_own_s(folder: Path, airtcpd: Airtcpd, extent: Extent) -> dict[Tool, float]:
    """Returns what of a round trip hosts and tool take themselves: the least on a fast link, less its delay.

    It is measured once for a folder.
    """
    file = folder / "hosts.json"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        link = {"name": "bare", "rate": "10Gbit/s", "delay": f"{BARE_DELAY_S}s"}
        with joined(Scenario.build(name="bare", link=[link]), 1, airtcpd, folder) as ends:
            for tool in PROBERS:
                probe(ends, tool, folder, count=extent.few, spacing_s=extent.dense_s)
        file.write_text(json.dumps({tool: _own_s(folder / FILES[tool]) for tool in PROBERS}))
    found: dict[Tool, float] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _own_s(file: Path) -> float:
    trips = read(file).round_trips
    assert trips is not None
    return max(0.0, float(np.min(trips.rtt_s)) - 2 * BARE_DELAY_S)
