"""What is said of a flow's path is said of the links that it crosses, in networks too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import airtcp
from airtcp import ScenarioError
from airtcp.advise.beside import with_competitor
from airtcp.advise.surroundings import Point, changes, with_latency
from airtcp.facts.routes import base_rtts_s, crosses, measured, routes, shared_rate_bps
from airtcp.facts.scenario import Document, document

ROOT = Path(__file__).parents[2]
FAST = {"rate": "1000Gbit/s"}
"""A packet takes no time that counts at the transmitter."""

Keys = dict[str, Any]
delays = st.integers(1, 60).map(lambda ms: f"{ms}ms")


@st.composite
def links(draw: st.DrawFn, nodes: int, is_chain: bool) -> list[Keys]:
    """Returns links that lead from everywhere to everywhere, and perhaps some more."""
    pairs = [(draw(st.integers(0, node - 1)), node) for node in range(1, nodes)]
    if not is_chain:
        others = st.lists(st.integers(0, nodes - 1), min_size=2, max_size=2, unique=True)
        pairs += [(near, far) for near, far in draw(st.lists(others, max_size=2))]
    found = []
    for number, pair in enumerate(pairs):
        near, far = draw(st.permutations(pair))
        link = {"name": f"l{number}", **FAST, "delay": draw(delays), "reverse": {"delay": draw(delays)}}
        found.append(link if is_chain else link | {"from": f"n{near}", "to": f"n{far}"})
    return found


@st.composite
def scenarios(draw: st.DrawFn) -> airtcp.Scenario:
    """A network or a chain, and flows of one packet, some with access links of their own."""
    is_chain, nodes = draw(st.booleans()), draw(st.integers(2, 5))
    made = draw(links(nodes, is_chain))
    flows = []
    for number in range(draw(st.integers(1, 3))):
        copies = draw(st.integers(1, 3))
        flow: Keys = {"name": f"f{number}", "count": copies, "measure": not number or draw(st.booleans())}
        flow["traffic"] = {"kind": "bytes", "size": "1kB"}
        if is_chain:
            enter, leave = sorted(draw(st.integers(0, len(made) - 1)) for _ in range(2))
            flow |= {"enter": f"l{enter}", "leave": f"l{leave}"}
            flow["direction"] = draw(st.sampled_from(["forward", "reverse"]))
        else:
            begin, end, *_ = draw(st.permutations(range(nodes)))
            flow |= {"from": f"n{begin}", "to": f"n{end}"}
        if draw(st.booleans()):
            flow["access"] = [FAST | {"delay": draw(delays)} for _ in range(copies)]
        flows.append(flow)
    try:
        return airtcp.Scenario.build(duration="4s", link=made, flow=flows)
    except ScenarioError as error:
        if "two ways of equal length" not in str(error):
            raise
        reject()


def rtts_s(scenario: airtcp.Scenario) -> dict[tuple[str, int], float]:
    """Returns what the flows have measured in a run."""
    flows = json.loads(scenario.run("reno", 1).to_json())["flows"]
    return {(flow["name"], flow["index"]): flow["rtt_min_ms"] / 1000 for flow in flows}


@settings(max_examples=60)
@given(scenarios(), st.sampled_from([0.5, 1.0, 2.0]))
def test_propagation_is_that_of_the_routes(scenario: airtcp.Scenario, factor: float) -> None:
    varied = scenario.vary(changes(Point(delay_factor=factor), document(scenario)))
    path, seen = document(varied), rtts_s(varied)
    assert {flow: route.base_rtt_s for flow, route in routes(path).items()} == pytest.approx(seen, abs=1e-5)
    wanted = [seen[flow] for flow in measured(path)]
    assert base_rtts_s(path) == pytest.approx((min(wanted), max(wanted)), abs=1e-5)
    assert seen == pytest.approx({flow: factor * rtt_s for flow, rtt_s in rtts_s(scenario).items()}, abs=1e-5)


@settings(max_examples=30)
@given(scenarios())
def test_a_competitor_takes_the_way_of_what_is_measured(scenario: airtcp.Scenario) -> None:
    path = document(with_competitor(scenario))
    of = routes(path)
    rival, model = of["competitor", 0], of[measured(path)[0]]
    assert (rival.there, rival.back) == (model.there, model.back)


def shipped(name: str) -> Document:
    return document(airtcp.Scenario.load(ROOT / f"scenarios/{name}.toml"))


def test_the_shipped_networks() -> None:
    assert base_rtts_s(shipped("dumbbell")) == pytest.approx((0.024, 0.1))
    assert base_rtts_s(shipped("round-trips")) == pytest.approx((0.01, 0.2))
    assert base_rtts_s(shipped("parking-lot")) == pytest.approx((0.022, 0.062))
    parking_lot = shipped("parking-lot")
    long, first, *_ = parking_lot["flow"]
    assert crosses(parking_lot, long, "second")
    assert not crosses(parking_lot, first, "second")


def test_only_what_all_measured_flows_cross_limits_their_sum() -> None:
    assert shared_rate_bps(shipped("dumbbell")) == 20e6
    assert shared_rate_bps(shipped("round-trips")) == 50e6
    assert shared_rate_bps(shipped("parking-lot")) is None
    slow = {"flow.0.access": [{"rate": "3Mbit/s"}]}
    assert shared_rate_bps(document(airtcp.Scenario.built_in().vary(slow))) == 3e6


def test_latency_of_a_log_is_what_the_route_that_crosses_it_lacks() -> None:
    path = shipped("dumbbell")
    middle = path["link"][0]
    del middle["delay"], middle["reverse"]["delay"]
    flows = [
        {"name": "sender", "index": copy, "rtt_min_ms": rtt_ms}
        for copy, rtt_ms in enumerate([25.0, 31.0, 45.0, 60.0, 101.0, None])
    ]
    run: Any = {"flows": flows}
    found = with_latency(path, run)
    # The first has 4 ms on its other links, and the fourth 40 ms.
    assert (found["link"][0]["delay"], found["link"][0]["reverse"]["delay"]) == ("10000000ns", "10000000ns")
