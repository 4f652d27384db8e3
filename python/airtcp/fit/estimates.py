"""Calls each estimator once."""

from __future__ import annotations

from dataclasses import dataclass

from airtcp.fit.delay import Delay, fit_delay
from airtcp.fit.evidence import WAYS, Evidence, From
from airtcp.fit.loss import Loss, counted_loss, fit_loss
from airtcp.fit.loss_by_size import BySize, by_size
from airtcp.fit.measurement import Direction, Fates, LossCount, OneWay, RoundTrips
from airtcp.fit.overflow import Overflow, set_apart
from airtcp.fit.overload import Overload, overload


@dataclass(frozen=True)
class LossOf:
    """A loss, and the packets that show it."""

    loss: Loss
    source: From[Fates] | From[LossCount]
    overflow: Overflow | None = None
    """Packets left out because they met a full queue."""
    by_size: BySize | None = None
    """Comparison of two packet lengths, if there are two."""

    @property
    def is_plain(self) -> bool:
        """Whether losses depend neither on one another nor on length, as far as it shows."""
        return self.loss.chain is None and (self.by_size is None or self.by_size.ber is None)


@dataclass(frozen=True)
class Estimates:
    """Estimates that do not depend on what the user specifies."""

    delay: Delay | None
    ways: dict[Direction, Delay]
    """The delay of each direction; both or none."""
    losses: dict[Direction, LossOf]
    overloads: dict[Direction, Overload]
    """What senders that chose their rate say of the link's."""


def estimate(evidence: Evidence) -> Estimates:
    """Estimates from an idle path's round trips rather than a loaded one's, and from single packets rather
    than counts."""
    trips = evidence.idle or evidence.loaded
    losses = {way: found for way in WAYS if (found := _loss(evidence, way)) is not None}
    delay = fit_delay(trips.what, is_idle=trips is evidence.idle) if trips is not None else None
    ways = {way: delays for way, each in evidence.one_way.items() if (delays := _one_way(each.what))}
    overloads = {way: sent for way, each in evidence.offered.items() if (sent := overload(each.what))}
    return Estimates(delay, ways if len(ways) == 2 else {}, losses, overloads)


def _one_way(delays: OneWay) -> Delay | None:
    return fit_delay(RoundTrips(delays.time_s, delays.delay_s, delays.packet_bytes))


def _loss(evidence: Evidence, way: Direction) -> LossOf | None:
    fates = evidence.probed if way == "both" else evidence.fates.get(way)
    if fates is not None and len(fates.what.lost):
        trips = fates.source.round_trips if fates.source.transfer and way == "forward" else None
        overflow = set_apart(fates.what, trips) if trips is not None else None
        loss = fit_loss(fates.what.lost if overflow is None else fates.what.lost[overflow.kept])
        return LossOf(loss, fates, overflow, by_size(fates.what)) if loss is not None else None
    count = evidence.counts.get(way)
    return LossOf(counted_loss(count.what.packets, count.what.lost), count) if count is not None else None
