"""Paths that differ from the measured one in one or two properties, to test the answer on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal

from airtcp._engine import rate_in_bps, time_in_seconds
from airtcp.advise.gateway import wireless
from airtcp.facts.records import Run
from airtcp.facts.routes import routes
from airtcp.facts.scenario import Document

Axis = Literal["loss", "delay", "rate", "bursts"]

LOSS_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
LOSS_IF_NONE = (0.0, 0.001, 0.003, 0.01, 0.03)
"""Losses to try on a path without loss: from what a measurement may overlook to what nobody would."""
DELAY_FACTORS = (0.5, 1.0, 2.0)
RATE_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Factors to try if the rate is unknown."""
BURST_PACKETS = (1.0, 4.0, 16.0)
BY_PACKET = "packet"
"""The interval of bursts that change from packet to packet."""
"""Mean lengths of loss runs to try."""
FULL_PACKET_BITS = 8 * 1500


@dataclass(frozen=True)
class Point:
    """One path. `loss` is the link's share of lost full packets; None for the path's own."""

    loss: float | None = None
    delay_factor: float = 1.0
    rate_factor: float = 1.0
    burst_packets: float | None = None

    @property
    def is_the_path(self) -> bool:
        return self == Point()


@dataclass(frozen=True)
class Grid:
    """All points, by axis."""

    losses: tuple[float, ...]
    """Losses of the map in ascending order, including the path's own."""
    own_loss: float
    delays: tuple[float, ...]
    rates: tuple[float, ...]
    """Empty if the rate is known."""
    bursts: tuple[float, ...]
    """Empty if nothing is lost."""
    own_burst: float

    def map(self) -> list[Point]:
        return [self._at(loss, delay) for delay in self.delays for loss in self.losses]

    def points(self) -> list[Point]:
        """Returns all points once, the path itself first."""
        lines = [self.along(axis) for axis in ("rate", "bursts")]
        return list(dict.fromkeys([Point(), *self.map(), *(point for line in lines for point in line)]))

    def along(self, axis: Axis) -> list[Point]:
        """Returns the points along this axis in order, including the path itself."""
        match axis:
            case "loss":
                return [self._at(loss, 1.0) for loss in self.losses]
            case "delay":
                return [Point(delay_factor=factor) for factor in self.delays]
            case "rate":
                return [Point(rate_factor=factor) for factor in self.rates]
            case "bursts":
                own = Point()
                found = {self.own_burst: own} | {
                    length: Point(burst_packets=length)
                    for length in self.bursts
                    if not 0.6 < length / self.own_burst < 1.6
                }
                return [found[length] for length in sorted(found)] if self.bursts else []

    def _at(self, loss: float, delay: float) -> Point:
        return Point(None if loss == self.own_loss else loss, delay)


def grid(path: Document, *, rate_unknown: bool, packets_per_s: float) -> Grid:
    """Builds the grid. `packets_per_s` is the busy link's packet rate, which turns loss times into
    packets."""
    link = wireless(path)
    own = loss_of(link)
    losses = tuple(min(factor * own, 0.5) for factor in LOSS_FACTORS) if own else LOSS_IF_NONE
    return Grid(
        losses=losses,
        own_loss=own,
        delays=DELAY_FACTORS,
        rates=RATE_FACTORS if rate_unknown and "rate" in link else (),
        bursts=BURST_PACKETS if own else (),
        own_burst=burst_of(link, packets_per_s),
    )


def loss_of(side: Document) -> float:
    """Returns the random loss of one direction of a link, as a share of full packets."""
    loss = side["loss"]
    kept: float = (1 - loss["packet"]) * (1 - loss["ber"]) ** FULL_PACKET_BITS
    return 1 - kept * (1 - _burst_loss(loss.get("burst")))


def burst_of(side: Document, packets_per_s: float) -> float:
    """Returns the mean length of a loss run in packets."""
    burst = side["loss"].get("burst")
    if burst is None or not _burst_loss(burst):
        return 1.0
    # A run continues while the state stays bad and the next packet is lost too.
    length: float = 1 / (1 - (1 - burst["to_good"]) * burst["bad_loss"])
    if burst["interval"] != BY_PACKET:
        # The state changes in time: all packets of a bad interval are lost together.
        length *= max(1.0, packets_per_s * time_in_seconds(burst["interval"]))
    return length


def with_latency(path: Document, run: Run) -> Document:
    """Adds a delay where a log's latency stands for it: its share of the lowest RTT across it."""
    found = deepcopy(path)
    without = [side for link in found["link"] for side in _sides(link) if "delay" not in side]
    lowest_s = dict.fromkeys(map(id, without), math.inf)
    of = routes(found)
    for flow in run["flows"]:
        route, rtt_ms = of[flow["name"], flow["index"]], flow["rtt_min_ms"]
        unknown = [id(side) for side in route.sides if "delay" not in side]
        if rtt_ms is not None:
            share_s = max(0.0, rtt_ms / 1000 - route.base_rtt_s) / max(len(unknown), 1)
            lowest_s.update((side, min(lowest_s[side], share_s)) for side in unknown)
    for side in without:
        share_s = lowest_s[id(side)]
        side["delay"] = _time(share_s if share_s < math.inf else 0.0)
    return found


def changes(point: Point, path: Document) -> dict[str, object]:
    """Returns the scenario keys that turn the path into the point."""
    found: dict[str, object] = {}
    link = wireless(path)
    if point.loss is not None or point.burst_packets is not None:
        for side, prefix in _sides_of(link):
            found[f"{prefix}.loss"] = _loss(point, side, loss_of(link))
    if point.delay_factor != 1.0:
        for each in path["link"]:
            for side, prefix in _sides_of(each):
                found[f"{prefix}.delay"] = _time(point.delay_factor * time_in_seconds(side["delay"]))
                # A default queue would follow the delay, but the link's buffer does not.
                found[f"{prefix}.queue"] = side["queue"]
        for flow in path["flow"]:
            for number, own in enumerate(flow.get("access", ())):
                key = f"flow.{flow['name']}.access.{number}.delay"
                found[key] = _time(point.delay_factor * time_in_seconds(own["delay"]))
    if point.rate_factor != 1.0:
        for side, prefix in _sides_of(link):
            if "rate" in side:
                found[f"{prefix}.rate"] = f"{round(point.rate_factor * rate_in_bps(side['rate']))}bit/s"
    return found


def _loss(point: Point, side: Document, own: float) -> Document:
    """Returns the direction's losses, scaled or rearranged."""
    loss: dict[str, Any] = deepcopy(side["loss"])
    if point.burst_packets is not None:
        return _in_bursts(loss, loss_of(side), point.burst_packets)
    assert point.loss is not None
    if not own:
        return {**loss, "packet": point.loss}
    factor = point.loss / own
    for key in ("ber", "packet"):
        loss[key] = min(loss[key] * factor, 1.0)
    if "burst" in loss:
        _scale_burst(loss["burst"], factor)
    return loss


def _scale_burst(burst: Document, factor: float) -> None:
    """Spends `factor` times as long in the bad state, in stays of the same length."""
    bad = min(_share_bad(burst) * factor, 0.9)
    burst.update(_chain(bad, burst["to_good"]))
    burst["good_loss"] = min(burst["good_loss"] * factor, 1.0)


def _in_bursts(loss: Document, share: float, packets: float) -> Document:
    """Returns equal loss in runs of this mean length."""
    plain = {**loss, "ber": 0.0, "packet": 0.0}
    plain.pop("burst", None)
    if packets <= 1:
        return {**plain, "packet": share}
    return {**plain, "burst": {**_chain(share, 1 / packets), "good_loss": 0.0, "bad_loss": 1.0}}


def _chain(bad: float, to_good: float) -> Document:
    """Returns the chain that spends this share in the bad state.

    If that share makes stays longer, the next state does not depend on the last.
    """
    to_good = min(to_good, 1 - bad)
    return {"to_bad": to_good * bad / (1 - bad), "to_good": to_good}


def _burst_loss(burst: Document | None) -> float:
    if burst is None:
        return 0.0
    bad = _share_bad(burst)
    return float(bad * burst["bad_loss"] + (1 - bad) * burst["good_loss"])


def _share_bad(burst: Document) -> float:
    changing = burst["to_bad"] + burst["to_good"]
    return float(burst["to_bad"] / changing) if changing else 0.0


def _sides(link: Document) -> Sequence[Document]:
    return [link, link["reverse"]]


def _sides_of(link: Document) -> Iterator[tuple[Document, str]]:
    """Yields both directions, each with the prefix of its keys."""
    yield link, f"link.{link['name']}"
    yield link["reverse"], f"link.{link['name']}.reverse"


def _time(seconds: float) -> str:
    return f"{round(seconds * 1e9)}ns"
