"""Advice on a Wi-Fi channel: who has the air, and what serving by airtime would change."""

from __future__ import annotations

import airtcp
from airtcp.advise.advice import Advice
from airtcp.advise.air import by_airtime
from airtcp.facts.scenario import document

SERVED = """
duration = "6s"
warmup = "1s"
base_station = "far"
[[medium]]
name = "air"
kind = "wifi"
standard = "a"
airtime_fairness = false
[[link]]
name = "backbone"
from = "server"
to = "access-point"
rate = "1Gbit/s"
delay = "5ms"
[[link]]
name = "near"
from = "access-point"
to = "laptop"
medium = "air"
queue = { discipline = "fq-codel" }
[[link]]
name = "far"
from = "access-point"
to = "phone"
medium = "air"
mcs = 0
queue = { discipline = "fq-codel" }
[[flow]]
name = "near"
from = "server"
to = "laptop"
[[flow]]
name = "far"
from = "server"
to = "phone"
"""


def advised(text: str) -> Advice:
    return airtcp.advise(airtcp.Scenario.parse(text), control="sender", quick=True, seeds=3)


def on_the_air(advice: Advice) -> str:
    return next((each.text for each in advice.text if each.title == "On the air"), "")


def test_a_slow_station_that_takes_the_air_is_named_with_the_cure() -> None:
    advice = advised(SERVED)
    assert advice.air
    [use] = advice.air.uses
    assert use.most_airtime[0] == "access-point"
    assert advice.air.better_by_airtime
    assert advice.air.gain_by_airtime
    assert advice.air.gain_by_airtime.mean > 0.3
    assert "serves its stations by airtime (`airtime_fairness`) would make it" in on_the_air(advice)


def test_what_is_served_by_airtime_already_is_not_advised() -> None:
    fair = SERVED.replace("airtime_fairness = false", "airtime_fairness = true")
    assert by_airtime(airtcp.Scenario.parse(fair)) is None
    changed = by_airtime(airtcp.Scenario.parse(SERVED))
    assert changed
    assert document(changed) == document(airtcp.Scenario.parse(fair))
    advice = advised(fair)
    assert advice.air
    assert advice.air.gain_by_airtime is None
    assert "is idle for" in on_the_air(advice)
    assert "airtime_fairness" not in on_the_air(advice)


def test_without_a_medium_there_is_no_air() -> None:
    advice = advised('duration = "2s"\n[[link]]\nname = "radio"\nrate = "4Mbit/s"\n')
    assert advice.air is None
    assert not on_the_air(advice)
