"""What tools would have written of a path, according to the simulator."""

from __future__ import annotations

from pathlib import Path

from airtcp._engine import Scenario
from airtcp_studies.calibration.claims import Measured
from airtcp_studies.calibration.flent import flent_json
from airtcp_studies.calibration.iperf3 import iperf3_tcp
from airtcp_studies.calibration.paths import ACK_BYTES, FULL_BYTES, PROBERS, KnownPath, Tool
from airtcp_studies.calibration.probe_texts import fping_text, mtr_raw
from airtcp_studies.calibration.probes import ICMP_BYTES, irtt_json, ping_log, probe
from airtcp_studies.calibration.ss import ss_log

PROBES = 600
SPACING_S = 0.2
PROBE_BYTES: dict[Tool, int] = {"ping": ICMP_BYTES, "fping": ICMP_BYTES, "irtt": 200, "mtr": 64}
"""With headers."""
TEXTS = {"ping": ping_log, "fping": fping_text, "irtt": irtt_json, "mtr": mtr_raw}
CAPTURED_S, TRANSFERRED_S = 30.0, 20.0


def measured(path: KnownPath, folder: Path) -> Measured:
    """Measures with the path's tool."""
    (tool,) = path.tools
    scenario, seed = path.scenario, path.number + 1
    if tool in PROBERS:
        return _probed(tool, scenario, seed, folder)
    if tool == "capture":
        file = folder / "transfer.pcapng"
        flow = [{"name": "main", "start": "0s"}]
        scenario.vary(duration=f"{CAPTURED_S}s", flow=flow).run("cubic", seed, pcap=str(file))
        return Measured(tool, (file,), FULL_BYTES + ACK_BYTES)
    if tool == "flent":
        text, size = flent_json(scenario, "cubic", seed, transfer_s=TRANSFERRED_S), 2 * ICMP_BYTES
    else:
        of = iperf3_tcp if tool == "iperf3" else ss_log
        text, size = of(scenario, "cubic", seed, duration_s=TRANSFERRED_S), FULL_BYTES + ACK_BYTES
    file = folder / f"{tool}.txt"
    file.write_text(text)
    return Measured(tool, (file,), size)


def _probed(tool: Tool, scenario: Scenario, seed: int, folder: Path) -> Measured:
    size = PROBE_BYTES[tool]
    probes = probe(scenario, seed, count=PROBES, interval_s=SPACING_S, packet_bytes=size)
    file = folder / f"{tool}.txt"
    file.write_text(TEXTS[tool](probes))
    return Measured(tool, (file,), 2 * size)
