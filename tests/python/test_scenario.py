"""Scenarios as Python objects: built from values, varied, compared, carried elsewhere."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import airtcp
from airtcp import Scenario, ScenarioError

LINK: dict[str, object] = {"name": "air", "rate": "10Mbit/s", "delay": "25ms", "loss": {"ber": 1e-6}}
LOG = [{"duration_ms": 1000, "bandwidth_kbps": 5000, "latency_ms": 40}]
TEXT = '[[link]]\nname = "air"\nrate = "10Mbit/s"\ndelay = "25ms"\nloss.ber = 1e-6\n'


def test_values_say_what_a_file_says() -> None:
    assert Scenario.build(link=[LINK]) == Scenario.parse(TEXT)
    assert Scenario.build(link=(LINK,), seeds=np.int64(2), schemes=("reno",)) == Scenario.parse(
        f'seeds = 2\nschemes = ["reno"]\n{TEXT}'
    )


def test_a_path_is_a_value(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(json.dumps(LOG))
    built = Scenario.build(link=[{"log": tmp_path / "log.json"}])
    assert built == Scenario.build(link=[{"log": str(tmp_path / "log.json")}])
    varied = Scenario.parse(TEXT).vary({"air.log": tmp_path / "log.json"})
    assert str(tmp_path) in varied.to_toml()


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, "link: the path has no link"),
        ({"link": [{**LINK, "rat": 1}]}, r"^link\[0\]\.rat: unknown key; did you mean `rate`"),
        ({"link": [{**LINK, "loss": {"ber": 2}}]}, r"^link\[0\]\.loss\.ber: 2 is not a probability"),
        ({"link": [{**LINK, "delay": None}]}, r"^link\[0\]\.delay: None is not a value"),
        ({"link": [{**LINK, "delay": {1}}]}, r"^link\[0\]\.delay: .* type set"),
        ({"link": [{3: 1}]}, r"^link\[0\]: keys must be text"),
        ({"link": [LINK], "seeds": 2**70}, r"^seeds: the number is too large"),
        ({"link": [LINK], "sceeds": 2}, r"^sceeds: unknown key; did you mean `seeds`"),
    ],
)
def test_a_mistake_in_values_is_named_by_its_key(keys: dict[str, object], said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        Scenario.build(**keys)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"air.loss.ber": 2}, r"^link\[0\]\.loss\.ber: 2 is not a probability"),
        ({"ari.loss.ber": 0}, r"^ari\.loss\.ber: unknown link `ari`; did you mean `air`"),
        ({"duration": 20}, r"^duration: `20` has no unit"),
        ({"schemes": ["reno", "cubik"]}, r"^schemes\[1\]: .*cubic"),
        ({"schemes": ["reno", "cubic", "cubic"]}, r"^schemes\[2\]: `cubic` duplicates"),
    ],
)
def test_a_mistake_in_a_change_is_named_by_its_key(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        Scenario.parse(TEXT).vary(changes)


OUT_OF_ORDER = (
    r"scheme `westwood-vt:alpha=20`: `westwood-vt`: alpha = 20 exceeds beta = 16: "
    r"lower alpha to 16 or less, or raise beta to 20 or more"
)


@pytest.mark.parametrize(
    "entrance",
    [
        lambda scheme: Scenario.build(link=[LINK], schemes=["reno", scheme]),
        lambda scheme: Scenario.build(link=[LINK], flow=[{"scheme": scheme}]),
        lambda scheme: Scenario.parse(f'schemes = ["{scheme}"]\n{TEXT}'),
        lambda scheme: Scenario.built_in().vary(schemes=[scheme]),
        lambda scheme: Scenario.built_in().run(scheme, 1),
        lambda scheme: airtcp.compare(schemes=[scheme]),
        lambda scheme: airtcp.run(scheme=scheme),
        lambda scheme: airtcp.sweep(None, {"wireless.delay": ["1ms", "2ms"]}, [scheme]),
    ],
)
def test_parameters_of_a_scheme_that_are_out_of_order_are_refused_everywhere(
    entrance: Callable[[str], object],
) -> None:
    with pytest.raises(ScenarioError, match=OUT_OF_ORDER):
        entrance("westwood-vt:alpha=20")


def test_variations_add_up_and_derive_defaults_anew() -> None:
    scenario = Scenario.parse(TEXT)
    varied = scenario.vary({"air.rate": "100Mbit/s", "air.loss.packet": "1%"}, seeds=3).vary(seeds=4)
    assert varied == Scenario.parse(
        'seeds = 4\n[[link]]\nname = "air"\nrate = "100Mbit/s"\ndelay = "25ms"\n'
        "loss = { ber = 1e-6, packet = 0.01 }\n"
    )
    # Queue room is a bandwidth-delay product where none is given.
    assert "packets = 50" in scenario.to_toml()
    assert "packets = 50" not in varied.to_toml()
    assert scenario == Scenario.parse(TEXT), "a variation leaves its origin as it was"


def test_equality_is_of_content() -> None:
    one, same, other = Scenario.parse(TEXT), Scenario.build(link=[LINK]), Scenario.built_in()
    assert one == same
    assert len({one, same, other}) == 2
    assert one != other
    assert one != "air"
    assert copy.copy(one) is one
    assert copy.deepcopy(one) is one


def test_a_pickle_runs_in_another_process_and_folder_without_the_files(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (here / "log.json").write_text(json.dumps(LOG))
    (here / "s.toml").write_text(TEXT.replace('rate = "10Mbit/s"', 'log = "log.json"'))
    scenario = Scenario.load(here / "s.toml").vary(duration="2s")
    pickled = pickle.dumps(scenario)
    (here / "log.json").unlink()
    assert pickle.loads(pickled) == scenario
    script = (
        "import pickle, sys; s = pickle.load(sys.stdin.buffer).vary(duration='1s');"
        "print(s.run('reno', 1).to_json())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=pickled,
        cwd=there,
        env=os.environ,
        capture_output=True,
        check=True,
    )
    expected = scenario.vary(duration="1s").run("reno", 1).to_json()
    assert done.stdout.decode().strip() == expected


def test_its_errors_can_be_pickled() -> None:
    """Workers of other processes answer with them."""
    with pytest.raises(ScenarioError) as caught:
        Scenario.build()
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
