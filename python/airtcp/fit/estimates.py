"""Calls each estimator once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from airtcp.fit.delay import Delay, fit_delay
from airtcp.fit.evidence import WAYS, Evidence, From
from airtcp.fit.kinds import Air, recognise
from airtcp.fit.kinds.starlink import Slots
from airtcp.fit.loss import Loss, counted_loss, fit_loss
from airtcp.fit.loss_by_size import BySize, by_size
from airtcp.fit.measurement import Direction, Fates, Flags, LossCount, OneWay, RoundTrips
from airtcp.fit.overflow import Overflow, set_apart
from airtcp.fit.overload import Overload, overload


@dataclass(frozen=True)
class LossOf:
    """A loss, and the packets that show it."""

    loss: Loss
    source: From[Fates] | From[LossCount]
    overflow: Overflow | None = None
    """Packets left out because they met a full queue."""
    at_changes: int = 0
    """Lost packets left out because they were sent when satellites changed."""
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
    air: Air | None
    """The kind of air; None if nothing shows it."""


def estimate(evidence: Evidence) -> Estimates:
    """Estimates from an idle path's round trips rather than a loaded one's, and from single packets rather
    than counts."""
    trips = evidence.idle or evidence.loaded
    delay = fit_delay(trips.what, is_idle=trips is evidence.idle) if trips is not None else None
    air = _air(evidence, delay)
    # A scenario has either outages at random times or those.
    slots = air.slots if air is not None and delay is not None and delay.stalls is None else None
    losses = {way: found for way in WAYS if (found := _loss(evidence, way, slots)) is not None}
    ways = {way: delays for way, each in evidence.one_way.items() if (delays := _one_way(each.what))}
    overloads = {way: sent for way, each in evidence.offered.items() if (sent := overload(each.what))}
    return Estimates(delay, ways if len(ways) == 2 else {}, losses, overloads, air)


def _air(evidence: Evidence, delay: Delay | None) -> Air | None:
    if evidence.idle is None or delay is None:
        return None
    source = evidence.idle.source
    fates = next(iter(source.fates), None)
    in_order = not any(each.late for each in source.reordering)
    return recognise(evidence.idle.what, delay, fates, in_order=in_order, radio=source.radio)


def _one_way(delays: OneWay) -> Delay | None:
    return fit_delay(RoundTrips(delays.time_s, delays.delay_s, delays.packet_bytes))


def _loss(evidence: Evidence, way: Direction, slots: Slots | None) -> LossOf | None:
    fates = evidence.probed if way == "both" else evidence.fates.get(way)
    if fates is not None and len(fates.what.lost):
        trips = fates.source.round_trips if fates.source.transfer and way == "forward" else None
        overflow = set_apart(fates.what, trips) if trips is not None else None
        apart = _at_changes(fates.what, slots)
        loss = fit_loss(fates.what.lost[~apart if overflow is None else overflow.kept & ~apart])
        at_changes = int(fates.what.lost[apart].sum())
        return LossOf(loss, fates, overflow, at_changes, by_size(fates.what)) if loss is not None else None
    count = evidence.counts.get(way)
    return LossOf(counted_loss(count.what.packets, count.what.lost), count) if count is not None else None


def _at_changes(fates: Fates, slots: Slots | None) -> Flags:
    """Selects the packets that are set apart because losses bunch where satellites change."""
    if slots is None or not slots.lost_s or fates.sent_s is None:
        return np.zeros(len(fates.lost), dtype=np.bool_)
    return slots.at_changes(fates.sent_s)
