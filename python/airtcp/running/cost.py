"""What simulations will cost, before they run."""

from __future__ import annotations

import json
import os

from airtcp._engine import Scenario
from airtcp.facts.scenario import document

EVENTS_A_PACKET = 5
"""Of a full link, at most: what a run of a scheme that fills it costs."""
EVENTS_A_SECOND = 3e6
"""What a core does, about."""
PACKET_BITS = 8 * 1500
MOST_S = 86_400.0
"""What takes longer is refused, for it is more often a slip than meant."""
LOOKS = ("10ms", "10s")
"""A recording may begin with an outage."""


class CostError(ValueError):
    """It would take too long: says how long."""


def bound_bps(scenario: Scenario) -> float:
    """What a flow could carry at best, by a run that hardly lasts."""
    found = 0.0
    begun = {"start": "0s", "stagger": "0s", "stop": None}
    flows = [
        {key: value for key, value in {**flow, **begun}.items() if value is not None}
        for flow in document(scenario)["flow"]
    ]
    for duration in LOOKS:
        short = scenario.vary(duration=duration, warmup="0s", schemes=["reno"], flow=flows)
        found = float(json.loads(short.run("reno", scenario.seed).to_json())["bound_bps"])
        if found:
            break
    return found


def run_events(scenario: Scenario, bps: float) -> float:
    """Of one run, about and at most, on a path that carries so much."""
    return EVENTS_A_PACKET * bps * scenario.duration_s / PACKET_BITS


def expected_s(events: float, jobs: int | None) -> float:
    """How long so many events take here, about."""
    return events / EVENTS_A_SECOND / min(jobs or os.cpu_count() or 1, os.cpu_count() or 1)


def check_cost(scenario: Scenario, jobs: int | None) -> float:
    """How long comparing its schemes will take in seconds, about. Raises CostError."""
    runs = scenario.seeds * len(scenario.schemes)
    time_s = expected_s(runs * run_events(scenario, bound_bps(scenario)), jobs)
    if time_s > MOST_S:
        raise CostError(
            f"{runs} runs of {scenario.duration_s:g} s would take about {time_text(time_s)} here; shorten"
            " them with --duration, or run fewer with --seeds and --schemes. `airtcp sweep` keeps finished"
            " runs"
        )
    return time_s


def time_text(seconds: float) -> str:
    """`40 s`, `3 min`, `2 h 10 min`, `3 days`, `12 years`: what one wants to know of a time to wait."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    days = minutes / (24 * 60)
    return f"{days:.0f} days" if days < 730 else f"{days / 365:.0f} years"
