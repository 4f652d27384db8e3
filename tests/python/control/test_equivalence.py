"""A rule written in Python gives what the native one gives, to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest

import airtcp

from .rules import PyCubic, PyReno

SCENARIOS: dict[str, dict[str, Any]] = {
    "corruption": {},
    "deep queue": {"wireless.loss.ber": 0.0, "wireless.queue.packets": 200},
    "ecn": {"wireless.queue": {"discipline": "red", "ecn": True}, "wireless.loss": {}},
    "many flows": {"flow": [{"name": "many", "count": 5}]},
    "transfers": {
        "flow": [{"name": "short", "traffic": {"kind": "poisson", "interval": "200ms", "size": "60kB"}}]
    },
    "pauses": {"flow": [{"name": "on-off", "traffic": {"kind": "on-off", "on": "2s", "off": "3s"}}]},
    "outages": {"wireless.outages": {"period": "5s", "length": "3s"}},
    "spikes": {"wireless.spikes": {"period": "4s", "length": "1s", "extra": "2s"}},
}
TERMS = [
    "",
    ":profile=bsd-1998",
    ":profile=rfc:recovery=newreno",
    ":ecn=true",
    ":slow_start=hystart",
    "+packet-control",
    "+decoupling",
    "+split",
    "+eifel",
]


def record(scenario: airtcp.Scenario, scheme: str | type[airtcp.CongestionControl], label: str) -> str:
    """Without the scheme's name."""
    text = scenario.run(scheme, 1).to_json()
    return json.dumps(json.loads(text)).replace(f'"{label}', '"SCHEME')


@pytest.mark.parametrize("name", SCENARIOS)
def test_reno_in_python_is_reno(name: str) -> None:
    scenario = airtcp.Scenario.built_in([("duration", "20s")]).vary(SCENARIOS[name])
    scheme = "reno:ecn=true" if name == "ecn" else "reno"
    own = scenario.with_controllers(PyReno)
    assert record(own, f"py{scheme}", "pyreno") == record(scenario, scheme, "reno")


@pytest.mark.parametrize("term", TERMS)
def test_with_whatever_terms_it_goes(term: str) -> None:
    scenario = airtcp.Scenario.built_in([("duration", "20s")]).with_controllers(PyReno)
    assert record(scenario, f"pyreno{term}", "pyreno") == record(scenario, f"reno{term}", "reno")


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in ("transfers", "pauses")])
def test_cubic_in_python_is_cubic(name: str) -> None:
    scenario = airtcp.Scenario.built_in([("duration", "20s")]).vary(SCENARIOS[name])
    scheme = "cubic:ecn=true" if name == "ecn" else "cubic"
    own = scenario.with_controllers(PyCubic)
    assert record(own, f"py{scheme}", "pycubic") == record(scenario, scheme, "cubic")
