"""Estimates the cost of simulations before they run."""

from __future__ import annotations

import json
import os

from airtcp._engine import Scenario
from airtcp.facts.scenario import document

EVENTS_A_PACKET = 5
"""Upper bound on a full link, for a scheme that fills it."""
EVENTS_A_SECOND = 3e6
"""Approximate speed of a core."""
PACKET_BITS = 8 * 1500
MOST_S = 86_400.0
"""Longer work is refused, being more likely a mistake."""
LOOKS = ("10ms", "10s")
"""Durations of the pilot: a recording may begin with an outage."""


class CostError(ValueError):
    """The work would take too long: says how long."""


def bound_bps(scenario: Scenario) -> float:
    """Returns the highest rate of a flow, from a very short run."""
    found = 0.0
    begun = {"start": "0s", "stagger": "0s", "start_within": "0s", "stop": None}
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
    """Returns the approximate upper bound for one run, on a path that carries `bps`."""
    return EVENTS_A_PACKET * bps * scenario.duration_s / PACKET_BITS


def expected_s(events: float, jobs: int | None) -> float:
    """Returns approximately how long these events take here."""
    return events / EVENTS_A_SECOND / min(jobs or os.cpu_count() or 1, os.cpu_count() or 1)


def check_cost(scenario: Scenario, jobs: int | None) -> float:
    """Returns approximately how long comparing its schemes will take, in seconds. Raises CostError."""
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
    """Formats a waiting time: `40 s`, `3 min`, `2 h 10 min`, `3 days`, `12 years`."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    days = minutes / (24 * 60)
    return f"{days:.0f} days" if days < 730 else f"{days / 365:.0f} years"
