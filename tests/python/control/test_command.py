"""`--controller FILE.py[:CLASS]`."""

from __future__ import annotations

import json

import jsonschema
import pytest
from conftest import Cli

from airtcp.cli.controllers import controllers
from airtcp.cli.errors import InputError
from airtcp.results.document import results_schema

GOOD = """
import airtcp
from beside import HALF

class Base(airtcp.CongestionControl):
    beta = airtcp.parameter(HALF, minimum=0.1, maximum=0.9)

    def on_ack(self, ack):
        self.cwnd += self.mss * ack.acked_bytes / self.cwnd

class Mine(Base):
    def on_loss(self, loss):
        self.ssthresh = max(self.beta * loss.flight_size_bytes, 2 * self.mss)
        self.cwnd = self.ssthresh

class Broken(Mine):
    def on_loss(self, loss):
        self.cwnd = self.nothing
"""
SHORT = ["--duration", "5s", "--seeds", "2"]
MINE = ["--controller", "mine.py"]
LINK = """
schemes = ["reno", "mine"]
[[link]]
name = "air"
rate = "5Mbit/s"
delay = "20ms"
[[flow]]
name = "a"
scheme = "mine"
[[flow]]
name = "b"
"""


@pytest.fixture
def files(cli: Cli) -> Cli:
    (cli.directory / "mine.py").write_text(GOOD)
    (cli.directory / "beside.py").write_text("HALF = 0.5\n")
    (cli.directory / "syntax.py").write_text("import airtcp\nclass Mine(:\n")
    (cli.directory / "fails.py").write_text("import airtcp\n\ndef f():\n    return 1 / 0\n\nf()\n")
    (cli.directory / "empty.py").write_text("import airtcp\n")
    (cli.directory / "half.py").write_text("import airtcp\nclass Half(airtcp.CongestionControl):\n    pass\n")
    return cli


def test_schemes_name_it_beside_native_ones_and_a_failure_leaves_the_others(files: Cli) -> None:
    wanted = "reno,mine:beta=0.8+eifel,broken"
    done = files("compare", *SHORT, *MINE, "--schemes", wanted, "--out", "out")
    assert done.returncode == 1, done.stderr
    assert "failed with seeds 1, 2" in done.stdout
    assert "AttributeError: 'Broken' object has no attribute 'nothing'" in done.stdout
    assert 'mine.py", line 18, in on_loss' in done.stdout
    document = json.loads((files.directory / "out" / "results.json").read_text())
    jsonschema.validate(document, results_schema())
    assert "--controller mine.py" in document["command"]
    assert [failure["seed"] for failure in document["failures"]] == [1, 2]
    assert [scheme["scheme"] for scheme in document["schemes"]] == ["reno", "mine:beta=0.8+eifel"]


def test_where_all_runs_fail_there_is_a_result_without_figures(files: Cli) -> None:
    done = files("compare", *SHORT, *MINE, "--schemes", "broken", "--out", "out")
    assert done.returncode == 1, done.stderr
    assert "failed with seeds 1, 2" in done.stdout
    assert json.loads((files.directory / "out" / "results.json").read_text())["runs"] == []


def test_one_run_of_it(files: Cli) -> None:
    assert "mine, seed 1" in files.ok(
        "run", "--duration", "5s", "--controller", "mine.py:Mine", "--scheme", "mine"
    )
    done = files("run", *MINE, "--scheme", "broken")
    assert done.returncode == 1
    assert "AttributeError" in done.stderr


def test_a_scenario_and_a_sweep_may_name_it(files: Cli) -> None:
    (files.directory / "link.toml").write_text(LINK)
    assert "--controller FILE.py" in files.refused("run", "link.toml")
    said = files.ok("sweep", "link.toml", *SHORT, *MINE, "--vary", "air.delay=10ms,20ms", "--dry-run")
    assert "All points are valid" in said


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("nothing.py", "nothing.py is not a readable Python file"),
        ("mine.py:Mien", "has no class Mien (did you mean Mine?); it has: Base, Mine, Broken"),
        ("mine.py:Base", "Base lacks on_loss"),
        ("half.py", "Half lacks on_ack and on_loss"),
        ("empty.py", "does not define a subclass of airtcp.CongestionControl; write `class Mine("),
        ("syntax.py", 'syntax.py", line 2'),
        ("fails.py", 'fails.py", line 4, in f'),
    ],
)
def test_a_file_that_is_wrong_is_told_with_its_cure(
    files: Cli, option: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files.directory)
    with pytest.raises(InputError) as refused:
        controllers([option])
    assert said in str(refused.value)
    assert "importlib" not in str(refused.value)


def test_a_wrong_file_ends_the_command_as_any_wrong_input(files: Cli) -> None:
    assert "Half lacks on_ack and on_loss" in files.refused("compare", "--controller", "half.py")
