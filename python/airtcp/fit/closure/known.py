"""What is known of a transfer's path beforehand, and no search need look for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from airtcp.fit.bottleneck import PACKET_BYTES
from airtcp.fit.closure.seen import Seen
from airtcp.fit.estimates import Estimates
from airtcp.fit.evidence import Evidence
from airtcp.fit.findings import Value
from airtcp.fit.measurement import Measurement

USUAL_BASE_S = 0.05
"""The empty path's round trip, as the fit assumes it where nothing shows any."""
HANDSHAKE_BYTES = 2 * 60.0
"""A SYN and its answer, with the options that are usual;"""
FULL_BYTES = PACKET_BYTES + 52.0
"""a full packet and its acknowledgment."""
MOST_LOSS = 0.6
"""That is tried."""


@dataclass(frozen=True)
class Known:
    """What other evidence says, or the transfer's least round trip; None if nothing."""

    rate_bps: float | None = None
    base_s: Value | None = None
    """The empty path's round trip of a small packet."""
    loss: Value | None = None
    """In each direction: one at random lies between its ends."""
    may_be_policed: bool = True
    """False if the fates of the transfer's packets exclude a policer."""

    @property
    def losses_beside(self) -> tuple[float, ...]:
        """Losses of a link on which something else dropped packets, too: the likely one, and the least."""
        likely = self.loss.best if self.loss is not None else 0.0
        return tuple(dict.fromkeys((likely, self.possible_loss(0.0))))

    def possible_loss(self, share: float) -> float:
        """Returns the loss that is nearest to `share` of those that may be."""
        if self.loss is None:
            return min(MOST_LOSS, share)
        return min(max(share, self.loss.low or 0.0), self.loss.high or 0.0)


def known(
    evidence: Evidence, estimates: Estimates, source: Measurement, seen: Seen, rate_bps: float | None
) -> Known:
    """Returns what is known beside the transfer of `source`; `rate_bps` is given by the user."""
    base_s = least_base(source)
    if evidence.idle is not None and estimates.delay is not None:
        base_s = estimates.delay.base_s
    elif base_s is None and not np.isfinite(seen.srtt_s).any():
        base_s = Value(USUAL_BASE_S)
    return Known(rate_bps, base_s, probed_loss(estimates))


def probed_loss(estimates: Estimates) -> Value | None:
    """Returns what probes say of the loss in each direction; None without any.

    Probes are fewer than a transfer's packets: of losses that are independent, they bound the share only.
    """
    probed = estimates.losses.get("both")
    if probed is None or probed.loss.share.best >= 1:
        return None
    share = probed.loss.share
    ends = (share.best, share.low or 0.0, share.high or 0.0) if probed.is_plain else 3 * (share.best,)
    return Value(*(1 - math.sqrt(1 - min(1.0, each)) for each in ends))


def least_base(source: Measurement) -> Value | None:
    """Returns the empty path's round trip as a transfer's first packets saw it, before it filled any queue.

    That was the handshake or, if one of its packets was lost, a full packet. A packet's own time on the link
    is at most what it takes at the rate at which the transfer arrived.
    """
    transfer = source.transfer
    if transfer is None or transfer.least_s is None or transfer.arrived is None:
        return None
    least_s, rate_bps = transfer.least_s, transfer.arrived.rate_bps
    shortest_s = least_s.low or least_s.best
    best_s = max(least_s.best / 2, least_s.best - 8 * HANDSHAKE_BYTES / rate_bps)
    low_s = max(shortest_s / 2, shortest_s - 8 * FULL_BYTES / rate_bps)
    return Value(best_s, low_s, least_s.high or least_s.best)
