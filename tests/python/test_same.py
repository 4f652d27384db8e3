"""`make same` finds what differs between two engines, and names the run and the field.

The engines are stand-ins: programs that print what can be seen of some runs, as the example `same` does.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "scripts"))
import same  # noqa: E402

ENGINE = """\
#!{python}
import hashlib, json, sys

SEEN = json.loads({seen!r})
for line in open(sys.argv[1]):
    name = json.loads(line)["name"]
    seen = SEEN[name]
    text = json.dumps(seen)
    if len(sys.argv) > 3:
        print(text if name == sys.argv[3] else "", end="")
    else:
        refused = isinstance(seen, str)
        print(name, seen if refused else hashlib.md5(text.encode()).hexdigest(), sep="\\t")
"""
"""Prints hashes of all runs, or one run as a whole."""

RECORD = {
    "record": {
        "scheme": "reno",
        "flows": [{"goodput_bps": 5.5, "timeouts": 0}, {"goodput_bps": 2.25, "timeouts": 1}],
    },
    "series": {"flows": {"time_ns": [0, 10, 20], "cwnd_bytes": [1, 2, 3]}, "queues": {"time_ns": [0, 10]}},
}
NAMES = ["scenarios/one/reno", "random/1", "random-network/2"]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes an engine of which this is seen."""
    monkeypatch.setattr(same, "CASES", tmp_path / "cases")
    cases = [{"name": name, "scenario": f"# {name}", "scheme": "reno", "seed": 7} for name in NAMES]
    same.CASES.write_text("".join(f"{json.dumps(case)}\n" for case in cases))

    def made(seen: Mapping[str, object]) -> Path:
        program = tmp_path / f"engine{len(list(tmp_path.iterdir()))}"
        text = json.dumps(dict.fromkeys(NAMES, RECORD) | dict(seen))
        program.write_text(ENGINE.format(python=sys.executable, seen=text))
        program.chmod(0o755)
        return program

    return made


def changed(path: Sequence[Any], value: object) -> dict[str, Any]:
    """Returns the record with one value changed."""
    found = deepcopy(RECORD)
    place: Any = found
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return found


def test_engines_that_agree_are_the_same(engine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert same.compare(engine({}), engine({})) == 0
    assert capsys.readouterr().out == "3 runs are the same\n"


def test_a_planted_difference_is_found(engine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    planted = {
        "random/1": changed(["record", "flows", 1, "goodput_bps"], 2.5),
        "random-network/2": changed(["series", "flows", "cwnd_bytes", 0], 9),
    }
    assert same.compare(engine({}), engine(planted)) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[:2] == [
        "2 of 3 runs differ. The first: random/1",
        "  record.flows[1].goodput_bps: 2.25 -> 2.5",
    ]
    assert told[3:] == ["scheme reno, seed 7, scenario:", "", "# random/1"]


def test_what_the_base_cannot_read_is_new(engine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert same.compare(engine({"random-network/2": "unreadable: from"}), engine({})) == 0
    assert capsys.readouterr().out == "1 runs only the tree can read\n2 runs are the same\n"


def test_what_the_tree_cannot_read_differs(engine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert same.compare(engine({}), engine({"random/1": "unreadable: from"})) == 1
    assert "1 of 3 runs differ. The first: random/1" in capsys.readouterr().out


def test_an_engine_that_ends_early_is_no_success(engine: Any, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text(f"#!{sys.executable}\nraise SystemExit(3)\n")
    broken.chmod(0o755)
    with pytest.raises(SystemExit, match="ended with 3"):
        same.compare(broken, engine({}))


@pytest.mark.usefixtures("engine")
def test_a_name_that_no_case_has_is_no_success(tmp_path: Path) -> None:
    lister = tmp_path / "lister"
    lister.write_text(f'#!/bin/sh\ncat "{same.CASES}"\n')
    lister.chmod(0o755)
    same.write_cases(lister, "random/")
    assert [json.loads(line)["name"] for line in same.CASES.open()] == ["random/1"]
    with pytest.raises(SystemExit, match="no case's name begins with `randum/`"):
        same.write_cases(lister, "randum/")


def test_a_new_field_is_named_though_it_is_null() -> None:
    assert same.first_difference({"a": 1}, {"a": 1, "b": None}) == 'b: "(absent)" -> null'


def test_of_a_table_the_earliest_row_is_named() -> None:
    after: Any = deepcopy(RECORD)
    after["series"]["flows"] = {"time_ns": [0, 10, 25], "cwnd_bytes": [1, 4, 3]}
    assert same.first_difference(RECORD, after) == "series.flows.cwnd_bytes[1]: 2 -> 4"


leaves = st.none() | st.booleans() | st.integers(0, 5) | st.text("ab", max_size=2)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
)


@given(values, values)
def test_what_differs_is_named_and_nothing_else(before: object, after: object) -> None:
    found = same.first_difference(before, after)
    assert (found is None) == (json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True))
