"""Prints what Python adds to each run of a sweep, in µs of CPU time: a sweep on one thread, less its runs.

Runs of 10 simulated ms: longer ones would hide it in the noise of the engine's own time.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import airtcp

REPEATS = 5
SEEDS = 100
DELAYS = [f"{delay_ms}ms" for delay_ms in range(10, 30)]
SCHEMES = ["reno", "cubic"]
SCENARIO = airtcp.Scenario.built_in().vary(duration="10ms", seeds=SEEDS, schemes=SCHEMES)


def swept() -> None:
    assert airtcp.sweep(SCENARIO, {"wireless.delay": DELAYS}, jobs=1).frame.height == RUNS


def alone() -> None:
    for delay in DELAYS:
        scenario = SCENARIO.vary({"wireless.delay": delay})
        for scheme in SCHEMES:
            for seed in range(1, SEEDS + 1):
                scenario.run(scheme, seed)


def least_s(work: Callable[[], None]) -> float:
    def once() -> float:
        before = process_time()
        work()
        return process_time() - before

    return min(once() for _ in range(REPEATS))


RUNS = len(DELAYS) * len(SCHEMES) * SEEDS
swept()  # imports
print(1e6 * (least_s(swept) - least_s(alone)) / RUNS)
