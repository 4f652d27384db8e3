"""Combines several measurements of one path: the best-informed answers each question, contradictions are
reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from airtcp.fit.holes import Hole
from airtcp.fit.measurement import (
    Direction,
    Fates,
    LinkRate,
    LossCount,
    Measurement,
    Offered,
    OneWay,
    QueueRoom,
    Reordering,
    RoundTrips,
    Throughput,
)

T = TypeVar("T")
WAYS: tuple[Direction, ...] = ("forward", "reverse", "both")
SHORTEST_S = 1e-6
"""Shorter intervals are ignored."""
FEW = 20
"""Fewer probes show next to nothing."""
LEAST_DIFFERS = 1.3
"""Lowest round trips that differ by this factor belong to different paths, if"""
NEAR_S = 0.005
"""they also differ by this time."""
BEYOND_DELAY = 3.0
"""Trains of a constant rate differ by less than this multiple of what an idle path's delays differ by."""


@dataclass(frozen=True)
class From(Generic[T]):
    """A piece of a measurement, and its source."""

    what: T
    source: Measurement

    @property
    def name(self) -> str:
        """The file's name, as messages and comments give it."""
        return shown(self.source.source.name)


@dataclass
class Evidence:
    """The best answer to each question among the files; None or empty without one."""

    idle: From[RoundTrips] | None = None
    """Round trips of probes, which put no load on the path."""
    loaded: From[RoundTrips] | None = None
    """Round trips while a transfer fills the queue in the forward direction."""
    loaded_back: From[RoundTrips] | None = None
    """Round trips while a transfer fills the queue in the reverse direction."""
    one_way: dict[Direction, From[OneWay]] = field(default_factory=dict)
    """One-way delays on an idle path: of both directions or neither."""
    queue_rooms: dict[Direction, From[QueueRoom]] = field(default_factory=dict)
    probed: From[Fates] | None = None
    """Fates of packets that made the round trip."""
    fates: dict[Direction, From[Fates]] = field(default_factory=dict)
    capacity: dict[Direction, From[Throughput]] = field(default_factory=dict)
    link_rate: dict[Direction, From[LinkRate]] = field(default_factory=dict)
    reached: dict[Direction, From[Throughput]] = field(default_factory=dict)
    """Throughput that transfers reached."""
    offered: dict[Direction, From[Offered]] = field(default_factory=dict)
    counts: dict[Direction, From[LossCount]] = field(default_factory=dict)
    """Number of losses, if it is unknown which packets were lost."""
    resent: From[float] | None = None
    """Share of a transfer's packets that were retransmitted."""
    reordering: dict[Direction, From[Reordering]] = field(default_factory=dict)
    holes: tuple[Hole, ...] = ()
    contradictions: list[str] = field(default_factory=list)


def shown(text: str) -> str:
    """Removes what would end a line or move a cursor."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def use_of(found: Evidence, measurements: Sequence[Measurement]) -> tuple[list[Measurement], list[str]]:
    """Returns the measurements that answer some question, and a sentence on each of the others."""
    ways: list[Any] = [found.fates, found.capacity, found.link_rate, found.reached, found.counts]
    ways += [found.one_way, found.queue_rooms]
    answers: list[From[Any] | None] = [
        found.idle,
        found.loaded,
        found.loaded_back,
        found.probed,
        found.resent,
    ]
    answers += [found.reordering.get("forward"), *(answer for way in ways for answer in way.values())]
    sources = [answer.source for answer in answers if answer is not None]
    shows_holes = {name for hole in found.holes for name in hole.inputs}
    used = [m for m in measurements if m.source.name in shows_holes or any(m is source for source in sources)]
    unused = [m for m in measurements if not any(m is each for each in used)]
    return used, [f"{shown(m.source.name)}: not used; {_why_unused(m, found)}." for m in unused]


def _why_unused(measurement: Measurement, found: Evidence) -> str:
    trips = measurement.round_trips
    rival = found.loaded if measurement.is_loaded else found.idle
    if trips is not None and len(trips.rtt_s) and rival is not None:
        of = "round trips" if measurement.is_loaded else "probes"
        more = len(rival.what.rtt_s) > len(trips.rtt_s)
        return f"{rival.name} has more {of}" if more else f"{rival.name} comes first and has as many {of}"
    return "the other files cover everything it does, with more packets or over a longer time"


def too_few(found: Evidence) -> list[str]:
    """Warns if everything rests on a few probes."""
    if found.probed is not None:
        probes, name = len(found.probed.what.lost), found.probed.name
    elif found.idle is not None and not found.capacity:
        probes, name = len(found.idle.what.rtt_s), found.idle.name
    else:
        return []
    if probes >= FEW:
        return []
    many = "1 probe" if probes == 1 else f"{probes} probes"
    return [f"Only {many} in {name}: too few to describe the path; send 600."]


def gather(measurements: Sequence[Measurement]) -> Evidence:
    """Picks the best answer to each question: the one from the most packets or the longest time."""
    idle = _offers(measurements, lambda m: _trips(m) if not m.is_loaded else [])
    loaded = _offers(measurements, lambda m: _trips(m) if _fills(m, "forward") else [])
    loaded_back = _offers(measurements, lambda m: _trips(m) if _fills(m, "reverse") else [])
    throughput = list(_offers(measurements, lambda m: m.throughput))
    fates = list(_offers(measurements, lambda m: () if m.load else m.fates))
    one_way = list(_offers(measurements, lambda m: m.one_way if len(m.one_way) == 2 and not m.load else ()))
    rooms = list(_offers(measurements, lambda m: m.queue_rooms))
    counts = list(_offers(measurements, lambda m: m.loss_counts))
    resent = _offers(measurements, _resent)
    found = Evidence(
        idle=_most(idle, lambda trips: len(trips.rtt_s)),
        loaded=_most(loaded, lambda trips: len(trips.rtt_s)),
        loaded_back=_most(loaded_back, lambda trips: len(trips.rtt_s)),
        probed=_most((f for f in fates if f.what.direction == "both"), lambda f: len(f.lost)),
        resent=_most(resent, lambda share: share),
    )
    link_rates = list(_offers(measurements, lambda m: m.link_rates))
    late = list(_offers(measurements, lambda m: m.reordering))
    offered = list(_offers(measurements, lambda m: m.offered))
    for way in WAYS:
        _put(found.counts, way, (c for c in counts if c.what.direction == way), lambda c: c.packets)
        _put(found.fates, way, (f for f in fates if f.what.direction == way), lambda f: len(f.lost))
        _put(found.reordering, way, (r for r in late if r.what.direction == way), lambda r: r.packets)
        _put(found.one_way, way, (d for d in one_way if d.what.direction == way), lambda d: len(d.delay_s))
        _put(found.queue_rooms, way, (r for r in rooms if r.what.direction == way), lambda r: r.packets)
        _put(found.offered, way, (o for o in offered if o.what.direction == way), _packets)
        rates = (r for r in link_rates if r.what.direction == way)
        _put(found.link_rate, way, rates, lambda r: r.estimate_bps or r.at_least_bps)
        of_way = [t for t in throughput if t.what.direction in (way, "both")]
        _put(found.capacity, way, (t for t in of_way if t.what.is_capacity and carries(t.what)), _span)
        _put(found.reached, way, (t for t in of_way if not t.what.is_capacity), mean_rate)
        _put_varying(found, way)
    _contradict(found, measurements, throughput)
    return found


def oriented(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Takes all measurements as seen from this host, unless all data came from the other one, which is then
    the forward direction."""
    if all(m.is_seen_from_far for m in measurements if m.has_ways):
        return list(measurements)
    return [m.turned() if m.is_seen_from_far else m for m in measurements]


def _trips(measurement: Measurement) -> list[RoundTrips]:
    return [measurement.round_trips] if measurement.round_trips else []


def _fills(measurement: Measurement, way: Direction) -> bool:
    """Returns whether something filled the queue in that direction."""
    transfer = measurement.transfer
    return measurement.load in (way, "both") or (transfer is not None and transfer.direction == way)


def _resent(measurement: Measurement) -> list[float]:
    transfer = measurement.transfer
    if transfer is None or transfer.data_packets <= 0 or transfer.direction != "forward":
        return []
    needed = max(0, transfer.retransmissions - (transfer.spurious or 0))
    return [min(1.0, needed / (transfer.data_packets + transfer.retransmissions))]


def _offers(measurements: Sequence[Measurement], of: Callable[[Measurement], Iterable[T]]) -> list[From[T]]:
    return [From(what, measurement) for measurement in measurements for what in of(measurement)]


def _most(offers: Iterable[From[T]], size: Callable[[T], float]) -> From[T] | None:
    return max(offers, key=lambda offer: size(offer.what), default=None)


def _put(
    into: dict[Direction, From[T]], way: Direction, offers: Iterable[From[T]], size: Callable[[T], float]
) -> None:
    best = _most(offers, size)
    if best is not None and size(best.what) > 0:
        into[way] = best


def _put_varying(found: Evidence, way: Direction) -> None:
    """Takes trains that disagree for a capacity that varies, unless a delay that varies explains them."""
    rate = found.link_rate.get(way)
    if rate is None or rate.what.trains is None or way in found.capacity:
        return
    trains = rate.what.trains
    of_middle = trains.took_s * (1 - trains.rate_bps / float(np.median(trains.rate_bps)))
    low, high = np.quantile(of_middle, [0.25, 0.75])
    if high - low <= BEYOND_DELAY * _usual_spread_s(found, way):
        return
    # Even steps: long trains would weigh more than the time in which the rate was low.
    step_s = (float(trains.began_s[-1] - trains.began_s[0]) or 1.0) / max(1, len(trains.began_s) - 1)
    steps = np.full(len(trains.began_s), step_s)
    varying = Throughput(trains.began_s, steps, trains.rate_bps, way, is_capacity=True)
    found.capacity[way] = From(varying, rate.source)
    say = found.contradictions.append
    say(
        f"The rate {there(way)} varies: the {len(steps)} trains of {rate.name}, over "
        f"{step_s * len(steps):.0f} s, came at {_mbps(trains.rate_bps.min())} to "
        f"{_mbps(trains.rate_bps.max())} Mbit/s. They are replayed; what was between them "
        "is not known, and no constant rate forecasts this path. A recording of the capacity would."
    )


def _usual_spread_s(found: Evidence, way: Direction) -> float:
    """Returns the range of the middle half of an idle path's delays; rare outages do not widen it."""
    one_way = found.one_way.get(way)
    values = found.idle.what.rtt_s if one_way is None and found.idle is not None else None
    values = one_way.what.delay_s if one_way is not None else values
    if values is None or not np.isfinite(values).any():
        return 0.0
    low, high = np.nanquantile(values, [0.25, 0.75])
    return float(high - low)


def _mbps(bps: float) -> str:
    return f"{bps / 1e6:.3g}"


def _packets(offered: Offered) -> float:
    return float(offered.packets.sum())


def _span(throughput: Throughput) -> float:
    return float(throughput.interval_s.sum())


def carries(throughput: Throughput) -> bool:
    """Returns whether anything ever got through."""
    return bool((throughput.rate_bps[throughput.interval_s >= SHORTEST_S] >= 1.0).any())


def mean_rate(throughput: Throughput) -> float:
    """Returns the mean rate in bit/s."""
    span = _span(throughput)
    return float((throughput.rate_bps * throughput.interval_s).sum()) / span if span > 0 else 0.0


def _contradict(
    found: Evidence, measurements: Sequence[Measurement], throughput: Sequence[From[Throughput]]
) -> None:
    say = found.contradictions.append
    for way, best in found.capacity.items():
        rivals = [t for t in throughput if t.what.is_capacity and t.what.direction == way]
        for rival in rivals:
            if rival is not best and rival.source is not best.source:
                say(f"{rival.name} has a capacity {there(way)}, too: {best.name} is used, which is longer.")
        reached = found.reached.get(way)
        if reached and mean_rate(reached.what) > 1.1 * mean_rate(best.what):
            say(
                f"{reached.name} reached more {there(way)} than {best.name} has: a different link or time; "
                "the capacity is used."
            )
    apart = _least_apart(measurements)
    if apart:
        say(f"{apart}: a different time, or a queue that never emptied; idle probes take precedence, if any.")


def two_paths(measurements: Sequence[Measurement]) -> str | None:
    """Says why they cannot be of one path: no queue explains the difference of their lowest round trips."""
    apart = _least_apart([m for m in measurements if not m.is_loaded])
    return apart and f"{apart}: these are different paths; fit each separately"


def _least_apart(measurements: Sequence[Measurement]) -> str | None:
    least = [
        (float(np.nanmin(m.round_trips.rtt_s)), shown(m.source.name))
        for m in measurements
        if m.round_trips is not None and len(m.round_trips.rtt_s)
    ]
    if not least:
        return None
    (short, near), (long, far) = min(least), max(least)
    if long <= max(LEAST_DIFFERS * short, short + NEAR_S):
        return None
    return f"the least round trip is {short * 1e3:.4g} ms in {near} and {long * 1e3:.4g} ms in {far}"


def there(way: Direction) -> str:
    """Returns the direction in words."""
    return {
        "forward": "in the forward direction",
        "reverse": "in the reverse direction",
        "both": "in both directions together",
    }[way]
