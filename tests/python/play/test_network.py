"""The playground's picture of a network has the links of the record, and the ways that packets take."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import airtcp
from airtcp.facts.routes import measured, routes
from airtcp.facts.scenario import document

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
CHAIN = """
[[link]]
rate = "5Mbit/s"
[[link]]
rate = "5Mbit/s"
[[flow]]
count = 2
leave = "link0"
access = [{ delay = "1ms" }, { delay = "9ms" }]
[[flow]]
direction = "reverse"
access = { delay = "2ms" }
"""
TRIANGLE = """
[[link]]
name = "up"
from = "home"
to = "server"
rate = "5Mbit/s"
[[link]]
name = "satellite"
from = "server"
to = "home"
rate = "1Mbit/s"
[[flow]]
from = "home"
to = "server"
via = ["up"]
return_via = ["satellite"]
"""


def pictures(scenarios: list[airtcp.Scenario]) -> list[dict[str, Any]]:
    program = shutil.which("node")
    if program is None:
        pytest.skip("Node is not installed")
    module = ROOT / "crates/web/page/network.js"
    texts = json.dumps([tomllib.loads(scenario.to_toml()) for scenario in scenarios])
    command = [program, "--no-warnings", str(HERE / "network.mjs"), str(module)]
    done = subprocess.run(command, input=texts, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def way(picture: dict[str, Any], sides: list[int]) -> list[str]:
    """Returns the nodes on a way, whose sides follow each other."""
    nodes: list[str] = []
    for side in sides:
        _, *ends = picture["links"][side // 2]
        near, far = reversed(ends) if side % 2 else ends
        assert not nodes or nodes[-1] == near
        nodes = [*nodes, far] if nodes else [near, far]
    return nodes


def test_a_network_is_drawn_as_it_runs() -> None:
    names = ["dumbbell", "parking-lot", "round-trips", "mesh", "default"]
    scenarios = [airtcp.Scenario.load(str(ROOT / f"scenarios/{name}.toml")) for name in names]
    scenarios += [airtcp.Scenario.parse(text) for text in (CHAIN, TRIANGLE)]
    found = pictures(scenarios)
    assert [picture["is_network"] for picture in found] == [True] * 3 + [False] * 2 + [True] * 2
    for scenario, picture in zip(scenarios, found, strict=True):
        record = json.loads(scenario.vary({"duration": "1s", "warmup": "0s"}).run("reno", 1).to_json())
        assert [link["name"] for link in record["links"][::2]] == [link[0] for link in picture["links"]]
        assert len(picture["routes"]) == len(record["flows"])
        for route in picture["routes"]:
            there, back = way(picture, route["there"]), way(picture, route["back"])
            assert [there[0], there[-1]] == [back[-1], back[0]]
        assert all(0 < node["x"] < 900 and 0 < node["y"] < picture["height"] for node in picture["nodes"])
        path = document(scenario)
        assert picture["round_trip"] == pytest.approx(routes(path)[measured(path)[0]].base_rtt_s)
    for route in found[-1]["routes"]:
        assert (route["there"], route["back"]) == ([0], [2])


def test_names_have_room() -> None:
    crowd = airtcp.Scenario.load(str(ROOT / "scenarios/dumbbell.toml"))
    few = crowd.vary({"flow.sender.count": 9, "flow.sender.access": [{"delay": "1ms"}]})
    many = few.vary({"flow.sender.count": 60})
    for picture in pictures([crowd, few, many]):
        places = sorted((node["x"], node["y"]) for node in picture["nodes"] if not node["isCrowded"])
        assert all(x != left or y - above >= 24 for (left, above), (x, y) in itertools.pairwise(places))
        ends = {node["side"] for node in picture["nodes"]}
        assert ends == {"left", "right", "below"}
        assert picture["height"] <= 352


def test_data_goes_to_the_right() -> None:
    [picture] = pictures([airtcp.Scenario.load(str(ROOT / "scenarios/dumbbell.toml"))])
    x = {node["name"]: node["x"] for node in picture["nodes"]}
    for route in picture["routes"]:
        columns = [x[node] for node in way(picture, route["there"])]
        assert columns == sorted(set(columns))
