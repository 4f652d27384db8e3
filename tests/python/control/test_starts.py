"""Flows of which nothing is said begin within a round trip: seeds differ, schemes do not."""

from __future__ import annotations

import json

import airtcp

from .test_interface import Aimd

CLEAN = airtcp.Scenario.parse('duration = "3s"\n[[link]]\nname = "l"\nrate = "5Mbit/s"\ndelay = "20ms"\n')


def starts(scenario: airtcp.Scenario, scheme: str, seed: int) -> list[float]:
    """When each connection sends its first data."""
    seen: list[float] = []

    class Noting(Aimd):
        def __init__(self) -> None:
            self.has_sent = False

        def on_sent(self, sent_bytes: int, in_flight_bytes: int) -> None:
            if not self.has_sent:
                seen.append(self.now_s)
            self.has_sent = True

    scenario.run(type("Noted", (Noting,), {"name": scheme}), seed)
    return seen


def test_seeds_differ_and_schemes_do_not() -> None:
    three = CLEAN.vary(flow=[{"name": "many", "count": 3}])
    first = starts(three, "one", 1)
    assert len(set(first)) == 3
    # The handshake takes 40 ms and its own packets' time.
    assert all(0.04 < start < 0.09 for start in first)
    assert first == starts(three, "other", 1) != starts(three, "one", 2)


def test_runs_of_different_seeds_differ_on_a_path_without_chance() -> None:
    runs = [json.loads(CLEAN.run("reno", seed).to_json()) for seed in (1, 2)]
    assert {**runs[0], "seed": 0} != {**runs[1], "seed": 0}
    on_time = CLEAN.vary(flow=[{"name": "main", "start": "0s"}])
    fixed = [json.loads(on_time.run("reno", seed).to_json()) for seed in (1, 2)]
    assert {**fixed[0], "seed": 0} == {**fixed[1], "seed": 0}
