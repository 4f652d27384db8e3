"""Flows with different round trips over one link: ns-2's senders, and those that stand for them, on
scenarios/round-trips.toml. Keeps what came out in docs/round-trips.json, and writes docs/round-trips.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from senders import SENDERS, ns2

import airtcp
from airtcp._engine import rate_in_bps, time_in_seconds
from airtcp.facts.scenario import document

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benches"))
from round_trips_page import RESULTS, write  # noqa: E402

SCENARIO = ROOT / "scenarios/round-trips.toml"
COMPARED = ("reno", "newreno", "sack", "vegas", "westwood", "cubic", "hybla")


def arguments(path: dict[str, Any]) -> dict[str, object]:
    """What round_trips.tcl takes. Random delays are the sender's there, and the link's here."""
    (shared,) = path["link"]
    own = [flow["access"][0] for flow in path["flow"]]
    return {
        "rate": rate_in_bps(shared["rate"]) / 1e6,
        "delay": 1e3 * time_in_seconds(shared["delay"]),
        "queue": shared["queue"]["packets"],
        "delays": " ".join(f"{1e3 * time_in_seconds(access['delay']):g}" for access in own),
        "access": rate_in_bps(own[0]["rate"]) / 1e6,
        "overhead": time_in_seconds(shared["jitter"]["high"]),
        "within": time_in_seconds(path["flow"][0]["start_within"]),
        "warmup": time_in_seconds(path["warmup"]),
        "duration": time_in_seconds(path["duration"]),
    }


def theirs(path: dict[str, Any], sender: str, seed: int) -> list[int]:
    """Returns the flows' goodput in kbit/s."""
    values = ns2("round_trips.tcl", arguments(path) | {"sender": sender, "seed": seed})
    return [round(values[f"flow{number}"]) for number in range(len(path["flow"]))]


def ours(scenario: airtcp.Scenario, sender: str, seeds: int) -> list[list[int]]:
    found = airtcp.compare(scenario, [SENDERS[sender]], seeds, series=False).runs
    return [[round(flow["goodput_bps"] / 1e3) for flow in run["flows"]] for run in found]


def rows(seeds: int, senders: Sequence[str]) -> list[dict[str, object]]:
    scenario = airtcp.Scenario.load(SCENARIO)
    path = document(scenario)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        started = {
            sender: [pool.submit(theirs, path, sender, seed) for seed in range(1, seeds + 1)]
            for sender in senders
        }
        return [
            {
                "sender": sender,
                "scheme": SENDERS[sender],
                "airtcp": ours(scenario, sender, seeds),
                "ns2": [run.result() for run in started[sender]],
            }
            for sender in senders
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    if shutil.which("ns") is None:
        print("round trips: skipped, ns-2 is not available")
        return
    flows = [flow["name"] for flow in document(airtcp.Scenario.load(SCENARIO))["flow"]]
    found = {"flows": flows, "rows": rows(options.seeds, COMPARED)}
    RESULTS.write_text(json.dumps(found) + "\n", encoding="utf-8")
    print(write())


if __name__ == "__main__":
    main()
