"""`airtcp paper air`: the papers' ideas on the links of today."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from airtcp_studies.air import AirOut, air_schema
from airtcp_studies.air.airs import AIRS, IDEAS, MARKING
from airtcp_studies.air.judge import judge
from airtcp_studies.air.page import by_idea, findings, page
from conftest import Cli, flow, run

from airtcp.facts.records import Run

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def kept() -> AirOut:
    found: AirOut = json.loads((DOCS / "air.json").read_text(encoding="utf-8"))
    return found


def test_the_page_is_that_of_what_was_kept(kept: AirOut) -> None:
    jsonschema.Draft202012Validator(air_schema()).validate(kept)
    assert not kept["quick"]
    assert (DOCS / "air.md").read_text(encoding="utf-8") == page(kept)


def test_the_page_has_every_idea_on_every_link(kept: AirOut) -> None:
    assert [link["name"] for link in kept["links"]] == [air.name for air in AIRS]
    for link in kept["links"]:
        ideas = [(cell["scheme"], cell["base"]) for cell in link["ideas"]]
        assert ideas == [(idea.scheme, idea.base) for idea in IDEAS]


def test_no_idea_is_what_its_base_does_already(kept: AirOut) -> None:
    for place, idea in enumerate(IDEAS):
        differences = (link["ideas"][place]["goodput"] for link in kept["links"])
        assert any(found and found["half_width"] for found in differences), idea.name


def test_the_command_writes_what_the_page_is_made_of(cli: Cli) -> None:
    (cli.directory / "docs").mkdir()
    document = json.loads(cli.ok("paper", "air", "--quick", "--docs", "docs", "--out", "out", "--json", "-"))
    jsonschema.Draft202012Validator(air_schema()).validate(document)
    assert (cli.directory / "docs/air.md").read_text(encoding="utf-8") == page(document)
    assert (cli.directory / "docs/figures/air.svg").exists()


def test_a_queue_comes_in_front_of_the_radio_alone() -> None:
    for air in AIRS:
        links = {link["name"]: link for link in tomllib.loads(air.text())["link"]}
        marking = {key.split(".")[1] for key in air.with_queue(MARKING)}
        radio = {name for name, link in links.items() if "medium" in link}
        assert marking == (radio or {tomllib.loads(air.text())["base_station"]}), air.name


@pytest.mark.parametrize(
    ("goodput", "rtt_ms", "verdict"),
    [
        ((10.0, 10.1, 9.9), (50.0, 51.0, 49.0), "no difference"),
        ((10.1, 10.2, 10.0), (50.0, 51.0, 49.0), "no difference"),
        ((12.0, 12.2, 11.7), (50.0, 51.0, 49.0), "helps"),
        ((8.0, 8.2, 7.7), (50.0, 51.0, 49.0), "harms"),
        ((10.0, 10.1, 9.9), (30.0, 31.5, 29.0), "helps"),
        ((10.0, 10.1, 9.9), (80.0, 81.5, 79.0), "harms"),
        ((12.0, 12.2, 11.7), (80.0, 81.5, 79.0), "trades"),
        ((8.0, 8.2, 7.7), (30.0, 31.5, 29.0), "trades"),
        ((20.0, 1.0, 10.0), (50.0, 51.0, 49.0), "no difference"),
    ],
)
def test_an_idea_is_judged_by_goodput_and_delay(
    goodput: tuple[float, ...], rtt_ms: tuple[float, ...], verdict: str
) -> None:
    base = _runs((10.0, 10.1, 9.9), (50.0, 51.0, 49.0))
    assert judge(_runs(goodput, rtt_ms), base).verdict == verdict


def test_a_sentence_follows_its_numbers(kept: AirOut) -> None:
    changed: AirOut = json.loads(json.dumps(kept))
    for link in changed["links"]:
        link["lost_radio"] = 0.5
        for cell in link["ideas"]:
            cell["verdict"] = "no difference"
    assert "repairs its own losses" not in findings(changed)
    assert all(line.endswith("makes no difference on any of them.") for line in by_idea(changed))


def _runs(goodputs_mbps: tuple[float, ...], rtts_ms: tuple[float, ...]) -> list[Run]:
    return [
        run("a", seed, {**flow(mbps * 1e6), "rtt_samples": 100, "rtt_p95_ms": rtt_ms})
        for seed, (mbps, rtt_ms) in enumerate(zip(goodputs_mbps, rtts_ms, strict=True))
    ]
