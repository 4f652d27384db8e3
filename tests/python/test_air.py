"""What is said of a medium that links share: who had the air, and what was lost on it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from conftest import Cli

import airtcp
from airtcp.facts.airtime import stations, uses
from airtcp.results.comparison import Comparison
from airtcp.results.document import results_schema
from airtcp.results.side_by_side import SideBySide
from airtcp.showing.terminal import text_of

ANOMALY = Path(__file__).parents[2] / "scenarios/wifi-anomaly.toml"
STATIONS = ["access-point", "laptop1", "laptop2", "laptop3", "phone"]


@pytest.fixture(scope="module")
def found() -> Comparison:
    return airtcp.compare(ANOMALY, schemes=["cubic", "bbr"], seeds=2, duration="4s", series=False)


def test_stations_and_uses_are_sums_of_the_records(found: Comparison) -> None:
    run = found.runs[0]
    (medium,) = run["media"]
    assert medium["idle_s"] + medium["busy_s"] + medium["collided_s"] == pytest.approx(2.0)
    told = stations(run)
    assert sorted(station.name for station in told) == STATIONS
    on_air = [link for link in run["links"] if "medium" in link]
    assert sum(station.frames_sent for station in told) == sum(link["frames_sent"] for link in on_air)
    assert sum(station.airtime_share for station in told) == pytest.approx(
        sum(link["utilisation"] for link in on_air)
    )
    assert [use.scheme for use in uses(found.runs)] == ["cubic", "bbr"]
    assert {use.most_airtime[0] for use in uses(found.runs)} == {"phone"}
    assert not uses([{**run, "media": []}])


def test_a_run_says_who_had_the_air(cli: Cli) -> None:
    text = cli.ok("run", str(ANOMALY), "--duration", "4s", "--report", "air.html")
    assert "medium air: " in text
    rows = [line.split() for line in text.splitlines()]
    assert all(any(row[:1] == [name] for row in rows) for name in STATIONS)
    assert "Stations: their airtime" in (cli.directory / "air.html").read_text()
    plain = cli.ok("run", "--duration", "1s")
    assert "medium" not in plain
    assert "TXOP" not in plain


def test_a_comparison_says_how_the_air_was_used(cli: Cli, found: Comparison) -> None:
    assert "Airtime of air:" in text_of(found)
    small = ("--duration", "3s", "--seeds", "1", "--schemes", "cubic")
    text = cli.ok("compare", str(ANOMALY), *small, "--json", "air.json")
    assert "Airtime of air:" in text
    assert "phone" in text
    document = json.loads((cli.directory / "air.json").read_text())
    jsonschema.Draft202012Validator(results_schema()).validate(document)


def test_both_sides_say_how_the_air_was_used(found: Comparison) -> None:
    text = text_of(SideBySide(found, found))
    for where in ("in the simulator", "on Linux"):
        assert f"Airtime of air {where}:" in text


def test_frames_have_columns_for_media(found: Comparison) -> None:
    on_air = found.links.filter(found.links["medium"] == "air")
    assert on_air.height == 4 * 2 * len(found.runs)
    assert on_air["txops"].null_count() == 0
    assert found.links["txops"].null_count() == 2 * len(found.runs)
