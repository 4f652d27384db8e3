"""A rule written in Python gives to the byte what the native one gives, where that counts in bytes, too."""

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
RULES = ":windows=rfc:cubic=rfc9438"
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


def record(scenario: airtcp.Scenario, name: str, terms: str = "") -> str:
    """Without the scheme's name."""
    scheme = f"{name}{RULES}{terms}"
    text = scenario.run(scheme, 1).to_json()
    return json.dumps(json.loads(text)).replace(f'"{name}', '"SCHEME')


@pytest.mark.parametrize("name", SCENARIOS)
def test_reno_in_python_is_reno(name: str) -> None:
    scenario = airtcp.Scenario.built_in([("duration", "20s")]).vary(SCENARIOS[name])
    terms = ":ecn=true" if name == "ecn" else ""
    own = scenario.with_controllers(PyReno)
    assert record(own, "pyreno", terms) == record(scenario, "reno", terms)


@pytest.mark.parametrize("term", TERMS)
def test_with_whatever_terms_it_goes(term: str) -> None:
    scenario = airtcp.Scenario.built_in([("duration", "20s")]).with_controllers(PyReno)
    assert record(scenario, "pyreno", term) == record(scenario, "reno", term)


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in ("transfers", "pauses")])
def test_cubic_in_python_is_cubic(name: str) -> None:
    scenario = airtcp.Scenario.built_in([("duration", "20s")]).vary(SCENARIOS[name])
    terms = ":ecn=true" if name == "ecn" else ""
    own = scenario.with_controllers(PyCubic)
    assert record(own, "pycubic", terms) == record(scenario, "cubic", terms)
