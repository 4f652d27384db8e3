"""Who has the air of a path's media, and what serving stations by airtime would change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from airtcp._engine import Scenario
from airtcp.advise.candidates import Candidate
from airtcp.advise.race import Race
from airtcp.advise.standing import gap, is_behind
from airtcp.facts.airtime import MediumUse, uses
from airtcp.facts.scenario import document
from airtcp.facts.stats import Estimate, relative_gain
from airtcp.facts.summary import paired_values
from airtcp.facts.verdict import percent

WIFI = "wifi"


@dataclass(frozen=True)
class Air:
    """The media under the recommended scheme."""

    uses: tuple[MediumUse, ...]
    gain_by_airtime: Estimate | None
    """Of serving stations by airtime, as a share of the objective; above zero is better. None if it was not
    run: no Wi-Fi, or it is served so already."""
    better_by_airtime: bool
    """Whether that is surely better by more than the margin."""


def by_airtime(scenario: Scenario) -> Scenario | None:
    """Returns the scenario with stations served by airtime; None if that changes nothing."""
    media = [medium for medium in document(scenario).get("medium", ()) if medium["kind"] == WIFI]
    keys = {f"medium.{each['name']}.airtime_fairness": True for each in media if not each["airtime_fairness"]}
    return scenario.vary(keys) if keys else None


def air_of(race: Race, use: Candidate, fair: Race | None) -> Air | None:
    """Returns what the runs of `use` show; None where links share no medium.

    `fair` is the race in which stations are served by airtime.
    """
    found = uses(race.runs[use.name])
    if not found:
        return None
    if fair is None or use.name not in fair.runs:
        return Air(tuple(found), None, better_by_airtime=False)
    now, then = race.runs[use.name], fair.runs[use.name]
    gain = relative_gain(*paired_values(then, now, race.goal))
    return Air(
        tuple(found),
        gain if gain is None or race.goal.higher_is_better else gain.scaled(-1),
        better_by_airtime=is_behind(gap(then, now, race.goal)),
    )


def sentences(air: Air) -> Iterator[str]:
    for use in air.uses:
        station, airtime = use.most_airtime
        yield (
            f"Nobody has more of {use.medium} than {station}, {_share(airtime)} of the time; it is idle for"
            f" {_share(use.idle_share)}, and frames collide for {_share(use.collided_share)}."
        )
        if use.retried_share:
            yield f"Of the frames, {_share(use.retried_share)} are sent again."
    if air.gain_by_airtime is None:
        return
    if air.better_by_airtime:
        yield (
            "An access point that serves its stations by airtime (`airtime_fairness`) would make it"
            f" {percent(air.gain_by_airtime)} better: Linux's mac80211 does so for drivers that report"
            " airtime, such as ath9k, ath10k and mt76."
        )
    else:
        gain = percent(air.gain_by_airtime, signed=True)
        yield f"Serving stations by airtime (`airtime_fairness`) would not be surely better: {gain}."


def _share(share: float) -> str:
    return f"{100 * share:.0f} %"
