"""What people measure paths with, between two hosts; each tool leaves the file that its user would have."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from airtcp_studies.calibration.paths import Tool
from airtcp_studies.calibration.real.hosts import DEVICE, FAR, Ends

FILES: dict[Tool, str] = {
    "ping": "ping.log",
    "fping": "fping.txt",
    "irtt": "irtt.json",
    "mtr": "mtr.txt",
    "iperf3": "iperf3.json",
    "capture": "transfer.pcap",
    "ss": "ss.txt",
    "ping under load": "loaded.log",
}
"""By tool."""
LARGE = "large.log"
PROBE_BYTES: dict[Tool, int] = {"ping": 84, "fping": 84, "irtt": 200, "mtr": 64}
"""Of a probe and of its answer, with IP's header."""
NEEDS = ("chrt", "ip", "nsenter", "unshare", "ping", "fping", "irtt", "mtr", "iperf3", "tcpdump", "ss")
_LARGE_BYTES = 1472
"""Of data: a packet as long as Ethernet takes."""
_SS = "while :; do date +%s.%N; ss -tinO dst $0; sleep 0.2; done"
_PATIENCE_MS = 2000
"""How long fping waits for an answer; if it is not told, for the time between two probes."""
_LOADED_SPACING_S = 0.2


def probe(ends: Ends, tool: Tool, folder: Path, *, count: int, spacing_s: float) -> None:
    """Probes the path with one of `PROBE_BYTES`."""
    file = folder / FILES[tool]
    if tool == "ping":
        ends.sender.run("ping", "-n", "-c", str(count), "-i", f"{spacing_s:g}", FAR, to=file, check=False)
    elif tool == "fping":
        often = ["-p", f"{1e3 * spacing_s:g}", "-t", str(_PATIENCE_MS)]
        ends.sender.run("fping", "-D", "-c", str(count), *often, FAR, to=file, check=False)
    elif tool == "mtr":
        often = ["-c", str(count), "-i", f"{spacing_s:g}"]
        ends.sender.run("mtr", "--raw", "-n", *often, FAR, to=file, check=False)
    else:
        bare = PROBE_BYTES["irtt"] - 28
        for_s = f"{1e3 * count * spacing_s:g}ms"
        often = ["-i", f"{1e3 * spacing_s:g}ms", "-d", for_s, "-l", str(bare)]
        with ends.receiver.running("irtt", "server", "-b", f"{FAR}:2112", until="IPv4 listener"):
            ends.sender.run("irtt", "client", "-Q", *often, "-o", file, FAR, check=False)


def probe_large(ends: Ends, folder: Path, *, count: int, spacing_s: float) -> None:
    """Probes the path with packets as long as those of a transfer."""
    often = ["-c", str(count), "-i", f"{spacing_s:g}", "-s", str(_LARGE_BYTES), "-M", "do", "-W", "1"]
    ends.sender.run("ping", "-n", *often, FAR, to=folder / LARGE, check=False)


def transfer(ends: Ends, folder: Path, *, for_s: float, control: str = "cubic") -> None:
    """Measures with iperf3, while tcpdump and `ss` watch the sender, and a ping waits in the same queue."""
    capture: list[str | Path] = ["tcpdump", "-i", DEVICE, "-s", "128", "-w", folder / FILES["capture"], "tcp"]
    loaded = ["ping", "-n", "-c", str(round(for_s / _LOADED_SPACING_S)), "-i", str(_LOADED_SPACING_S), FAR]
    with ExitStack() as stack:
        stack.enter_context(ends.receiver.running("iperf3", "-s", "-1", "--forceflush", until="listening"))
        stack.enter_context(ends.sender.running(*capture, until="listening"))
        stack.enter_context(ends.sender.running("sh", "-c", _SS, FAR, to=folder / FILES["ss"]))
        stack.enter_context(ends.sender.running(*loaded, to=folder / FILES["ping under load"]))
        of = ["-t", f"{for_s:g}", "-C", control, "--json"]
        ends.sender.run("iperf3", "-c", FAR, *of, to=folder / FILES["iperf3"], check=False)
