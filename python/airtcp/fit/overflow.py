"""Losses of a transfer that its own queue made, told from the link's by how full the queue was.

What the link loses it loses whatever the queue; a queue that overflows loses only when it is full. So packets
that were sent into a queue near its fullest are set apart, lost or not, if more of them were lost than of the
others: what is left is a fair sample of the link.
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
"""Waits shorter than this share of the least round trip are no queue."""
OFTENER = 3.0
"""So many times the loss of the other packets, at least, is a queue's."""
FEW_LEFT = 300


@dataclass(frozen=True)
class Overflow:
    """What is set apart."""

    kept: Flags
    """Of all packets: those that met a queue that was not full."""
    packets: int
    lost: int


def set_apart(fates: Fates, trips: RoundTrips) -> Overflow | None:
    """None where nothing shows that the queue overflowed, or too little would be left."""
    if fates.sent_s is None or len(trips.rtt_s) < 20 or not fates.lost.any():
        return None
    waited = trips.rtt_s - trips.rtt_s.min()
    # Round trips that span a recovery are longer than any queue: they are few.
    longest = float(np.quantile(waited, 0.98))
    if longest < LEAST_WAIT * float(trips.rtt_s.min()):
        return None
    full: Flags = waited[_nearest(fates.sent_s, trips.time_s)] >= NEAR_FULL * longest
    apart, lost_apart = int(full.sum()), int(fates.lost[full].sum())
    others, lost_else = len(full) - apart, int(fates.lost[~full].sum())
    if apart == 0 or others < FEW_LEFT or lost_apart < OFTENER:
        return None
    if lost_apart / apart < OFTENER * (lost_else + 1) / others:
        return None
    return Overflow(~full, apart, lost_apart)


def _nearest(sent: Floats, sampled: Floats) -> Places:
    """For each packet the round trip that began nearest to it."""
    after = np.clip(np.searchsorted(sampled, sent), 1, len(sampled) - 1)
    is_before = sent - sampled[after - 1] < sampled[after] - sent
    places: Places = after - is_before
    return places
