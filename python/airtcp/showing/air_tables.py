"""Tables of who had the air of a medium: a station per line for one run, a scheme per line for several."""

from __future__ import annotations

from collections.abc import Sequence

from airtcp.facts.airtime import MediumUse, Station, share, span_s, stations, uses
from airtcp.facts.numbers import milliseconds, percent
from airtcp.facts.records import Medium, Run
from airtcp.showing.table import Heading, as_text

MAX_STATIONS = 20

_LOST = (Heading("lost by\ncollision", 1), Heading("\nerror", 1), Heading("\nqueue", 1))
_STATION = [
    Heading("station\n", kind="words"),
    Heading("airtime\n%"),
    Heading("retries\n%", 1),
    Heading("collided\n%", 2),
    Heading("wait\nms", 2),
    *_LOST,
]
_USE = [
    Heading("scheme\n", kind="words"),
    Heading("idle\n%", 1),
    Heading("collided\n%", 1),
    Heading("most airtime\n%", 0),
    Heading("retries\n%", 2),
    *_LOST,
]


def station_text(run: Run) -> list[str]:
    """Returns how the time of each medium was spent, and the table; nothing where links share none."""
    headings, rows = station_table(run)
    spent = [_spent(medium, span_s(run)) for medium in run.get("media", ())]
    return [*spent, as_text(headings, rows[:MAX_STATIONS]), *_more(len(rows))] if rows else []


def use_text(runs: Sequence[Run], where: str = "") -> list[str]:
    """Returns the title and the table; nothing where links share no medium."""
    headings, rows = use_table(runs)
    names = dict.fromkeys(medium["name"] for run in runs for medium in run.get("media", ()))
    return [f"Airtime of {', '.join(names)}{where}:", as_text(headings, rows)] if rows else []


def pair_text(sim: Sequence[Run], linux: Sequence[Run]) -> list[str]:
    """Returns titles and tables of both; nothing where links share no medium."""
    return [*use_text(sim, " in the simulator"), *use_text(linux, " on Linux")]


def station_table(run: Run) -> tuple[list[Heading], list[list[str]]]:
    found = stations(run)
    names = dict.fromkeys(station.medium for station in found)
    return _STATION, [_station(station, with_medium=len(names) > 1) for station in found]


def use_table(runs: Sequence[Run]) -> tuple[list[Heading], list[list[str]]]:
    found = uses(runs)
    names = dict.fromkeys(use.medium for use in found)
    return _USE, [_use(use, with_medium=len(names) > 1) for use in found]


def _spent(medium: Medium, period_s: float) -> str:
    idle, busy, collided = (medium[key] / period_s for key in ("idle_s", "busy_s", "collided_s"))
    return f"medium {medium['name']}: {idle:.1%} idle, {busy:.1%} busy, {collided:.1%} in collisions"


def _more(count: int) -> list[str]:
    return [f"… and {count - MAX_STATIONS} more stations"] if count > MAX_STATIONS else []


def _station(station: Station, *, with_medium: bool) -> list[str]:
    return [
        f"{station.name}, {station.medium}" if with_medium else station.name,
        percent(station.airtime_share),
        percent(share(station.retries, station.frames_sent)),
        percent(share(station.txops_collided, station.txops)),
        milliseconds(station.access_delay_ms),
        *map(str, (station.failed_collision, station.failed_error, station.overflowed)),
    ]


def _use(use: MediumUse, *, with_medium: bool) -> list[str]:
    name, airtime = use.most_airtime
    return [
        f"{use.scheme}, {use.medium}" if with_medium else use.scheme,
        percent(use.idle_share),
        percent(use.collided_share),
        f"{name} {percent(airtime)}",
        percent(use.retried_share),
        *(f"{count:.0f}" for count in (use.failed_collision, use.failed_error, use.overflowed)),
    ]
