"""Where a path has several links, it is told on which of them schemes act."""

from __future__ import annotations

import json

from conftest import Cli

import airtcp

LEO = """
seeds = 2
duration = "10s"
schemes = ["cubic", "cubic+snoop"]
[[link]]
name = "satellite"
rate = "20Mbit/s"
delay = "12ms"
loss.packet = "0.5%"
[[link]]
name = "internet"
rate = "1Gbit/s"
delay = "5ms"
"""
SAID = 'In front of link satellite acts cubic+snoop; base_station = "…" names another link.'


def test_the_lossy_link_is_taken_and_said(cli: Cli) -> None:
    (cli.directory / "leo.toml").write_text(LEO)
    assert SAID in cli.ok("compare", "leo.toml", "--out", "d")
    found = json.loads((cli.directory / "d" / "results.json").read_text())
    assert found["placement"] == [SAID]
    assert found["scenario"]["base_station"] == "satellite"
    assert SAID in cli.ok("run", "leo.toml", "--scheme", "cubic+snoop")


def test_at_the_lossy_link_snoop_helps_and_on_the_wire_it_does_not() -> None:
    gains = {}
    for link in ("satellite", "internet"):
        found = airtcp.compare(airtcp.Scenario.parse(LEO).vary(base_station=link), series=False)
        gains[link] = found.summary.row(1, named=True)["gain"]
    assert gains["satellite"] > 0.3 > gains["internet"]
    unnamed = airtcp.compare(airtcp.Scenario.parse(LEO), series=False)
    assert unnamed.summary.row(1, named=True)["gain"] == gains["satellite"]


def test_it_is_said_only_where_there_is_a_choice_and_a_scheme_that_acts() -> None:
    def placement(text: str, *schemes: str) -> list[str]:
        return airtcp.compare(
            airtcp.Scenario.parse(text), schemes=list(schemes), seeds=1, duration="1s", series=False
        ).placement

    assert placement(LEO, "cubic", "reno") == []
    assert placement(LEO.partition('[[link]]\nname = "internet"')[0], "cubic+snoop") == []
    assert placement(LEO, "cubic @ red-ecn", "cubic+snoop")[0].startswith(
        "In front of link satellite act cubic @ red-ecn and cubic+snoop;"
    )
    own = LEO + '[[flow]]\n[[flow]]\nname = "other"\nscheme = "reno+snoop"\n'
    assert placement(own, "cubic")[0].startswith("In front of link satellite acts reno+snoop;")
