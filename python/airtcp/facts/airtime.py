"""Who had the air of a medium that links share, and what was lost on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from airtcp.facts.records import Link, Medium, Run
from airtcp.facts.summary import group


@dataclass(frozen=True)
class Station:
    """What one node sent on a medium in one run, over all its links there."""

    medium: str
    name: str
    airtime_share: float
    """Of the time that was measured. Stations that collide have theirs at once."""
    txops: int
    txops_collided: int
    frames_sent: int
    retries: int
    failed_collision: int
    failed_error: int
    overflowed: int
    """Packets that its queues dropped."""
    access_delay_ms: float | None
    """Mean over its TXOPs; None without any."""


@dataclass(frozen=True)
class MediumUse:
    """How a medium was used under one scheme: means over its runs."""

    scheme: str
    medium: str
    idle_share: float
    collided_share: float
    """Of the time, like all shares here but that of retries."""
    most_airtime: tuple[str, float]
    """The station with the largest share of airtime, and that share."""
    retried_share: float | None
    """Of the frames; None without any."""
    failed_collision: float
    failed_error: float
    overflowed: float


def share(part: float, whole: float) -> float | None:
    """Returns the part as a share; None of nothing."""
    return part / whole if whole else None


def span_s(run: Run) -> float:
    """Returns the time that was measured."""
    return run["duration_s"] - run["warmup_s"]


def stations(run: Run) -> list[Station]:
    """Returns the stations of all media, in the order of the links at which they begin."""
    places: dict[tuple[str, str], list[Link]] = {}
    for link in run["links"]:
        if "medium" in link:
            places.setdefault((link["medium"], link["transmitter"]), []).append(link)
    return [_station(medium, name, links, span_s(run)) for (medium, name), links in places.items()]


def uses(runs: Sequence[Run]) -> list[MediumUse]:
    """Returns each medium's use under each scheme; empty where links share none."""
    return [_use(own, place) for own in group(runs).values() for place in range(len(own[0].get("media", ())))]


def _station(medium: str, name: str, links: Sequence[Link], period_s: float) -> Station:
    txops = sum(link["txops"] for link in links)
    return Station(
        medium=medium,
        name=name,
        airtime_share=sum(link["airtime_s"] for link in links) / period_s,
        txops=txops,
        txops_collided=sum(link["txops_collided"] for link in links),
        frames_sent=sum(link["frames_sent"] for link in links),
        retries=sum(link["retries"] for link in links),
        failed_collision=sum(link["failed_collision"] for link in links),
        failed_error=sum(link["failed_error"] for link in links),
        overflowed=sum(link["drops_overflow"] + link["drops_aqm"] for link in links),
        access_delay_ms=share(sum(link["access_delay_mean_ms"] * link["txops"] for link in links), txops),
    )


def _use(runs: Sequence[Run], place: int) -> MediumUse:
    medium = runs[0]["media"][place]["name"]
    everyone = [station for run in runs for station in stations(run) if station.medium == medium]
    airtimes = {
        station.name: fmean(each.airtime_share for each in everyone if each.name == station.name)
        for station in everyone
    }
    most = max(airtimes, key=lambda name: airtimes[name])

    def spent(of: Callable[[Medium], float]) -> float:
        return fmean(of(run["media"][place]) / span_s(run) for run in runs)

    def count(of: Callable[[Station], int]) -> float:
        return sum(map(of, everyone)) / len(runs)

    return MediumUse(
        scheme=runs[0]["scheme"],
        medium=medium,
        idle_share=spent(lambda medium: medium["idle_s"]),
        collided_share=spent(lambda medium: medium["collided_s"]),
        most_airtime=(most, airtimes[most]),
        retried_share=share(
            count(lambda station: station.retries), count(lambda station: station.frames_sent)
        ),
        failed_collision=count(lambda station: station.failed_collision),
        failed_error=count(lambda station: station.failed_error),
        overflowed=count(lambda station: station.overflowed),
    )
