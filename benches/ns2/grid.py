"""ns-2's senders and the profiles that stand for them on the same paths: goodput, timeouts, retransmits.

One flow, 1040-byte packets, every packet acknowledged; random loss, RED with and without ECN, satellites.
Means of a few seeds, which the two do not share: a few percent between them are chance.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean

from senders import SENDERS, ns2

import airtcp

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "out/ns2-grid.json"
COUNTS = ("goodput_kbps", "timeouts", "fast_retransmits")


def packet_loss(bit_error_rate: float) -> float:
    return 1.0 - (1.0 - bit_error_rate) ** (8 * 1040)


@dataclass(frozen=True)
class Route:
    name: str
    rate: float
    """Mbit/s."""
    rtt: float
    """ms."""
    loss: float = 0.0
    queue: int = 50
    red: bool = False
    ecn: bool = False
    duration: float = 300.0

    def scenario(self) -> airtcp.Scenario:
        queue: dict[str, object] = {"packets": self.queue}
        if self.red:
            queue |= {"discipline": "red", "ecn": self.ecn}
        rate, delay = f"{self.rate}Mbit/s", f"{self.rtt / 2}ms"
        back = {"rate": rate, "delay": delay, "loss": {}, "queue": {"packets": 1_000_000}}
        there = {"name": "link", "rate": rate, "delay": delay, "loss": {"packet": self.loss}, "queue": queue}
        return airtcp.Scenario.build(duration=f"{self.duration}s", link=[there | {"reverse": back}])

    def arguments(self) -> dict[str, object]:
        """What grid.tcl takes."""
        values = {name: value for name, value in asdict(self).items() if name != "name"}
        return values | {"red": int(self.red), "ecn": int(self.ecn)}


PATHS = [
    Route("BER 2e-6, 200 ms", 2, 200, packet_loss(2e-6)),
    Route("loss 0.5 %, 100 ms", 5, 100, 0.005),
    Route("loss 2 %, 100 ms", 5, 100, 0.02),
    Route("loss 5 %, 100 ms", 5, 100, 0.05),
    Route("RED, 50 ms", 5, 50, red=True),
    Route("RED with ECN, 50 ms", 5, 50, red=True, ecn=True),
    Route("satellite, 560 ms, loss 0.1 %", 1, 560, 0.001, duration=1000),
    Route("satellite, 64 kbit/s, BER 1e-5", 0.064, 560, packet_loss(1e-5), duration=2000),
]

Result = Mapping[str, float]


def averaged(results: Sequence[Result]) -> Result:
    return {name: mean(result[name] for result in results) for name in COUNTS}


def ours(path: Route, seeds: int) -> dict[str, Result]:
    schemes = {sender: scheme + (":ecn=true" if path.ecn else "") for sender, scheme in SENDERS.items()}
    runs = airtcp.compare(path.scenario(), list(schemes.values()), seeds, series=False).runs
    found: dict[str, list[Result]] = {scheme: [] for scheme in schemes.values()}
    for run in runs:
        flow = run["flows"][0]
        found[run["scheme"]].append(
            {
                "goodput_kbps": flow["goodput_bps"] / 1e3,
                "timeouts": flow["timeouts"],
                "fast_retransmits": flow["fast_retransmits"],
            }
        )
    return {sender: averaged(found[scheme]) for sender, scheme in schemes.items()}


def theirs(path: Route, seeds: int, pool: ThreadPoolExecutor) -> dict[str, Result]:
    runs = {
        sender: [
            pool.submit(ns2, "grid.tcl", path.arguments() | {"sender": sender, "seed": seed})
            for seed in range(1, seeds + 1)
        ]
        for sender in SENDERS
    }
    return {sender: averaged([run.result() for run in started]) for sender, started in runs.items()}


LAYOUT = "{:31} {:9} {:>9} {:>9} {:>6} {:>8} {:>6} {:>8} {:>6}"


def row(path: Route, sender: str, here: Result, there: Result) -> str:
    ratio = here["goodput_kbps"] / there["goodput_kbps"]
    goodputs = (f"{result['goodput_kbps']:.1f}" for result in (here, there))
    counts = (f"{result[name]:.0f}" for name in COUNTS[1:] for result in (here, there))
    return LAYOUT.format(path.name, sender, *goodputs, f"{ratio:.2f}", *counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--path", help="only paths whose name has this in it", default="")
    options = parser.parse_args()
    if shutil.which("ns") is None:
        print("ns2-grid: skipped, ns-2 is not available")
        return
    header = ("path", "sender", "kbit/s", "ns-2", "ratio", "timeouts", "ns-2", "fast r.", "ns-2")
    print(LAYOUT.format(*header), flush=True)
    rows: list[dict[str, object]] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path in (path for path in PATHS if options.path in path.name):
            here, there = ours(path, options.seeds), theirs(path, options.seeds, pool)
            for sender in SENDERS:
                print(row(path, sender, here[sender], there[sender]), flush=True)
                both = {"airtcp": here[sender], "ns2": there[sender]}
                rows.append({"path": path.name, "sender": sender, **both})
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(rows, indent=2) + "\n")
    print(f"\nWritten to {RESULTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
