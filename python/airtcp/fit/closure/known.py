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


@dataclass(frozen=True)
class Known:
    """What other evidence says, or the transfer's least round trip; None if nothing."""

    rate_bps: float | None = None
    base_s: Value | None = None
    """The empty path's round trip of a small packet."""
    loss: float | None = None
    may_be_policed: bool = True
    """False if the fates of the transfer's packets exclude a policer."""


def known(
    evidence: Evidence, estimates: Estimates, source: Measurement, seen: Seen, rate_bps: float | None
) -> Known:
    """Returns what is known beside the transfer of `source`; `rate_bps` is given by the user."""
    base_s = least_base(source)
    if evidence.idle is not None and estimates.delay is not None:
        base_s = estimates.delay.base_s
    elif base_s is None and not np.isfinite(seen.srtt_s).any():
        base_s = Value(USUAL_BASE_S)
    probed = estimates.losses.get("both")
    loss = probed.loss.share.best if probed is not None and probed.loss.lost else None
    return Known(rate_bps, base_s, 1 - math.sqrt(1 - loss) if loss is not None and loss < 1 else None)


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
