"""Separates a transfer's losses in its own queue from the link's, by how full the queue was.

Losses on the link do not depend on the queue; a queue drops only when full. So if more packets were lost
among those sent into a nearly full queue than among the others, all of those are set apart, lost or not. The
rest is a fair sample of the link.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from airtcp.fit.measurement import Fates, Flags, Floats, RoundTrips

Places = npt.NDArray[np.intp]

NEAR_FULL = 0.8
"""Share of the longest wait from which a queue may be full."""
LEAST_WAIT = 0.05
"""Waits shorter than this share of the lowest round trip are no queue."""
FULL = 0.995
"""Share of the packets of an overflowing transfer that waited no longer than a full queue takes; recoveries
prolong a few round trips."""
OFTENER = 3.0
"""A queue's loss is at least this multiple of the other packets' loss."""
FEW_LEFT = 300


@dataclass(frozen=True)
class Overflow:
    """What was set apart."""

    kept: Flags
    """Marks the packets that met a queue that was not full."""
    packets: int
    lost: int
    longest_wait_s: float
    """How long a packet waited in the full queue."""


def set_apart(fates: Fates, trips: RoundTrips) -> Overflow | None:
    """Returns None if nothing shows an overflow, or if too little would be left."""
    if fates.sent_s is None or len(trips.rtt_s) < 20 or not fates.lost.any():
        return None
    least = min(float(trips.rtt_s.min()), trips.least_s or np.inf)
    waited = trips.rtt_s - least
    # A few round trips span a recovery and exceed any queue.
    longest = float(np.quantile(waited, 0.98))
    if longest < LEAST_WAIT * least:
        return None
    full: Flags = waited[_nearest(fates.sent_s, trips.time_s)] >= NEAR_FULL * longest
    apart, lost_apart = int(full.sum()), int(fates.lost[full].sum())
    others, lost_else = len(full) - apart, int(fates.lost[~full].sum())
    if apart == 0 or others < FEW_LEFT or lost_apart < OFTENER:
        return None
    if lost_apart / apart < OFTENER * (lost_else + 1) / others:
        return None
    return Overflow(~full, apart, lost_apart, float(np.quantile(waited, FULL)))


def _nearest(sent: Floats, sampled: Floats) -> Places:
    """Returns, for each packet, the index of the round trip that began nearest to it."""
    after = np.clip(np.searchsorted(sampled, sent), 1, len(sampled) - 1)
    is_before = sent - sampled[after - 1] < sampled[after] - sent
    places: Places = after - is_before
    return places
