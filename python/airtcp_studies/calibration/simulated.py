"""What tools would have written of a path, according to the simulator."""

from __future__ import annotations

from pathlib import Path

from airtcp_studies.calibration.claims import Measured
from airtcp_studies.calibration.iperf3 import iperf3_tcp
from airtcp_studies.calibration.paths import ACK_BYTES, FULL_BYTES, KnownPath
from airtcp_studies.calibration.probes import ICMP_BYTES, Probes, irtt_json, ping_log, probe

PROBES = 600
SPACING_S = 0.2
UDP_BYTES = 200
"""Of irtt's probes here, with headers."""
CAPTURED_S, TRANSFERRED_S = 30.0, 20.0


def measured(path: KnownPath, folder: Path) -> Measured:
    """Measures with the path's tool."""
    (tool,) = path.tools
    seed = path.number + 1
    if tool == "capture":
        file = folder / "transfer.pcapng"
        flow = [{"name": "main", "start": "0s"}]
        scenario = path.scenario.vary(duration=f"{CAPTURED_S}s", flow=flow)
        scenario.run("cubic", seed, pcap=str(file))
        return Measured(tool, (file,), FULL_BYTES + ACK_BYTES)
    if tool == "iperf3":
        file = folder / "iperf3.json"
        file.write_text(iperf3_tcp(path.scenario, "cubic", seed, duration_s=TRANSFERRED_S))
        return Measured(tool, (file,), FULL_BYTES + ACK_BYTES)
    size = ICMP_BYTES if tool == "ping" else UDP_BYTES
    probes: Probes = probe(path.scenario, seed, count=PROBES, interval_s=SPACING_S, packet_bytes=size)
    file = folder / ("ping.log" if tool == "ping" else "irtt.json")
    file.write_text(ping_log(probes) if tool == "ping" else irtt_json(probes))
    return Measured(tool, (file,), 2 * size)
