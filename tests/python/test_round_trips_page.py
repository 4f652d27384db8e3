"""The page of ns-2's figures beside ours: what was kept, and that the engine still gets it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import airtcp

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benches"))
from round_trips_page import PAGE, RESULTS, jain, page  # noqa: E402

FOUND = json.loads(RESULTS.read_text(encoding="utf-8"))


def test_a_page_is_made_of_what_was_kept() -> None:
    row = {"sender": "reno", "airtcp": [[1000, 3000], [2000, 4000]], "ns2": [[5000, 5000], [7000, 7000]]}
    made = page({"flows": ["rtt10", "rtt200"], "rows": [row]})
    assert "mean of 2 seeds" in made
    assert "| sender | | 10 ms | 200 ms | sum | Jain |\n| --- | --- | ---: | ---: | ---: | ---: |\n" in made
    assert "| reno | airtcp | 1.5 | 3.5 | 5.0 | 0.85 |\n|  | ns-2 | 6.0 | 6.0 | 12.0 | 1.00 |\n" in made


def test_the_page_is_that_of_what_was_kept() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(FOUND)


def test_the_engine_still_gets_what_was_kept() -> None:
    scenario = airtcp.Scenario.load(ROOT / "scenarios/round-trips.toml")
    row = next(row for row in FOUND["rows"] if row["sender"] == "reno")
    run = json.loads(scenario.run(row["scheme"], 1).to_json())
    assert [flow["name"] for flow in run["flows"]] == FOUND["flows"]
    goodput = [round(flow["goodput_bps"] / 1e3) for flow in run["flows"]]
    assert goodput == row["airtcp"][0], "`make ns2-grid` makes the page again"


@given(st.lists(st.floats(1e-3, 1e6), min_size=1))
def test_jains_index_is_between_one_share_and_fair(shares: list[float]) -> None:
    assert 1 / len(shares) - 1e-9 <= jain(shares) <= 1 + 1e-9
    assert jain([shares[0]] * len(shares)) == pytest.approx(1)
