"""What the page shows is possible and consistent, and what it exports gives its numbers to the last digit."""

from __future__ import annotations

import json
import random
import re
import runpy
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from page import built_wasm

import airtcp

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
SCENES = range(1, 10)
FILES = ["mesh", "lte", "wifi", "3g", "leo-satellite", "lossy-ethernet", "streaming", "3g-cell"]
SCHEMES = ["reno", "cubic", "bbr", "reno+decoupling", "cubic+packet-control", "cubic+split", "cubic+snoop"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's modules, with the one that is made for it."""
    place: Path = tmp_path_factory.mktemp("page")
    playground = runpy.run_path(str(ROOT / "scripts/playground.py"))
    for module in (ROOT / "crates/web/page").glob("*.js"):
        shutil.copy(module, place)
    (place / playground["DATA"]).write_text(playground["text_of"](playground["DATA"]))
    return place


def shown(folder: Path, states: list[dict[str, Any]]) -> list[dict[str, Any]]:
    program = shutil.which("node")
    if program is None:
        pytest.skip("Node is not installed")
    command = [program, "--no-warnings", str(HERE / "shown.mjs"), str(folder), str(built_wasm())]
    done = subprocess.run(command, input=json.dumps(states), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def file(name: str) -> dict[str, str]:
    return {"name": f"{name}.toml", "text": (ROOT / f"scenarios/{name}.toml").read_text()}


def fields(chance: random.Random) -> dict[str, Any]:
    """Fields as a reader might set them."""
    every = {
        "rate": round(10 ** chance.uniform(-0.5, 1.5), 3),
        "rtt": round(10 ** chance.uniform(0.5, 2.6), 2),
        "queue": round(10 ** chance.uniform(0.5, 3)),
        "discipline": chance.choice(["droptail", "red", "codel", "fq-codel"]),
        "ber": float(f"{10 ** chance.uniform(-7, -4.5):.2g}"),
        "burst": round(chance.uniform(0, 10), 2),
        "burstLength": chance.randint(1, 20),
        "jitter": round(chance.uniform(0, 60), 1),
        "cross": chance.choice(["", "cubic", "bbr"]),
    }
    return {key: value for key, value in every.items() if chance.random() < 0.5}


def states(number: int, seed: int) -> list[dict[str, Any]]:
    """States with chosen fields, on the built-in link, in a scene, or on a file."""
    chance = random.Random(seed)
    found = []
    for _ in range(number):
        state: dict[str, Any] = {"sets": fields(chance), "duration": 3, "seeds": 2}
        kind = chance.choice(["built-in", "scene", "file"])
        if kind == "scene":
            state["scene"] = chance.choice(SCENES)
        else:
            state["schemes"] = chance.sample(SCHEMES, 2)
        if kind == "file":
            # Some of their flows pass no base station.
            state["schemes"] = chance.sample(SCHEMES[:3], 2)
            state["file"] = file(chance.choice(["mesh", "lte", "3g", "leo-satellite"]))
        found.append(state)
    return found


def check(found: dict[str, Any]) -> None:
    """Holds of every figure on the page."""
    said = json.dumps({key: value for key, value in found.items() if key != "state"})
    assert not re.search(r"NaN|Infinity|undefined", said), said
    assert not re.search(r"(?<![\w⁻])[-−]\d", found["verdict"] + str(found["lines"])), said
    for clause in re.split(r"\. ", found["verdict"]):
        assert sum(map(float, re.findall(r"([\d.]+) %", clause))) <= 100, found["verdict"]
    for least, _ in found["held"]:
        assert least >= 0
    assert all(share <= 1 + 1e-9 for share in found["fullest"])
    for shares, told in zip(found["shares"], found["percents"], strict=True):
        if shares:
            assert all(share >= 0 for share in shares.values())
            assert sum(shares.values()) <= 1 + 1e-9
            assert sum(float(text.removesuffix(" %")) for text in told) <= 100 + 1e-9
    assert not any(found["corrupted"]) or found["ber"] or found["losses"], "corrupted by nothing"


def test_the_figures_of_every_scene_and_file_are_consistent(folder: Path) -> None:
    asked: list[dict[str, Any]] = [{"scene": scene, "duration": 8, "drawn": True} for scene in SCENES]
    asked += [
        {"file": file(name), "schemes": ["cubic", "bbr"], "duration": 8, "drawn": True} for name in FILES
    ]
    for found in shown(folder, asked):
        check(found)


def test_the_figures_of_chosen_fields_are_consistent(folder: Path) -> None:
    for found in shown(folder, [{**state, "drawn": True} for state in states(30, 1)]):
        check(found)


def test_what_corrupts_packets_is_told_beside_the_slider(folder: Path) -> None:
    wifi, mesh, plain = shown(
        folder,
        [{"file": file("wifi"), "duration": 1}, {"file": file("mesh"), "duration": 1}, {"duration": 1}],
    )
    assert "bursts (" in wifi["losses"]
    assert "single packets (0.5 %) on “hop1”" in mesh["losses"]
    assert plain["losses"] == ""


def exported(cli: Cli, found: dict[str, Any]) -> dict[str, float]:
    """The means that `airtcp` finds for the command, beside the scenario file."""
    (cli.directory / "scenario.toml").write_text(found["toml"])
    program, *arguments = shlex.split(found["command"].replace("\\\n", " "))
    assert program == "airtcp"
    document = json.loads(cli.ok(*arguments, "--json", "-"))
    return {row["scheme"]: row["goodput"]["mean"] for row in document["schemes"]}


def test_exports_repeat_the_page_to_the_last_digit(
    folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [{"scene": scene, "duration": 3, "seeds": 2} for scene in SCENES] + states(10, 2)
    monkeypatch.chdir(cli.directory)
    for found in shown(folder, asked):
        # The file alone, with its schemes and seeds; then the command, and the program.
        whole = airtcp.compare(airtcp.Scenario.parse(found["toml"]), series=False)
        assert {row.scheme: row.goodput.mean for row in whole.summaries} == found["means"], found["state"]
        assert exported(cli, found) == found["means"], found["command"]
        made: dict[str, Any] = {}
        exec(found["python"].replace("print(found)", ""), made)
        assert {row.scheme: row.goodput.mean for row in made["found"].summaries} == found["means"]
        assert found["again"] == found["state"], "the link"
