#!/usr/bin/env python3
"""Counts how often `airtcp fit` recognises the kind of air where there is one, and where there is none.

Prints the figures of docs/guide/fit.md, "The kind of air", in a minute or two:

    .venv/bin/python scripts/kinds_of_air.py
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from airtcp_studies.calibration.air import in_slots, over_lte, over_wifi, without_air, written

from airtcp.fit.kinds.air import grain
from airtcp.fit.kinds.lte import find_steps
from airtcp.fit.kinds.starlink import find_slots
from airtcp.fit.kinds.verdict import Verdict
from airtcp.fit.kinds.wifi import find_repetitions
from airtcp.fit.measurement import Floats

PINGS = 600
GRAINS_S = (1e-6, 1e-5, 1e-4, 1e-3)


def wifi(rtt: Floats) -> Verdict:
    return find_repetitions(rtt, grain(rtt), loss=0.0, in_order=True)


def lte(rtt: Floats) -> Verdict:
    return find_steps(rtt, grain(rtt))[0]


def starlink(rtt: Floats) -> Verdict:
    time = np.arange(len(rtt), dtype=np.float64)
    return find_slots(time, rtt, began_s=None, fates=None)[0]


def say(what: str, verdicts: Iterable[Verdict]) -> None:
    counts = Counter(verdict.certainty for verdict in verdicts)
    print(f"{what}: " + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())), flush=True)


def main() -> None:
    plain = [
        written(np.maximum(rtt, 1e-3), grain_s)
        for seed in range(60)
        for grain_s in GRAINS_S
        for _, rtt in without_air(10_000 + seed, PINGS)
    ]
    for name, ask in (("Wi-Fi", wifi), ("LTE", lte), ("Starlink", starlink)):
        say(f"no air, asked for {name}", map(ask, plain))
    with tempfile.TemporaryDirectory() as folder:
        for errors in (10, 20, 30):
            for grain_s in (1e-5, 1e-4):
                logs = (over_wifi(seed, PINGS, Path(folder), errors=errors) for seed in range(25))
                found = (wifi(written(rtt, grain_s)) for rtt in logs)
                say(f"Wi-Fi, {errors} % of the frames err, a grain of {grain_s * 1e3:g} ms", found)
    for errors in (0.1, 0.15, 0.25):
        for request_s in (0.0, 0.002, 0.004):
            logs = (over_lte(seed, PINGS, request_s=request_s, errors=errors) for seed in range(100))
            found = (lte(written(rtt, 1e-4)) for rtt in logs)
            say(f"LTE, {errors:.0%} of the blocks err, requests each {request_s * 1e3:g} ms", found)
    for minutes in (5, 10, 20):
        time = np.arange(60.0 * minutes)
        for step_s in (0.002, 0.004):
            found = (starlink(in_slots(seed, time, step_s=step_s)) for seed in range(100))
            say(f"Starlink, {minutes} minutes, levels differ by {step_s * 1e3:g} ms", found)


if __name__ == "__main__":
    main()
