"""A column of losses: a flag of each packet, or the share of the packets that a row sums up."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from airtcp.fit.measurement import Flags, Floats

_FINEST = 100
"""Shares are those of this many packets at most, and of as few as explain them."""
_CLOSE = 0.01
"""What rounding leaves of a share, in packets."""


def as_shares(values: Floats) -> tuple[Floats, str]:
    """Returns shares from 0 to 1, and what was assumed; no shares if these are none."""
    known = values[np.isfinite(values)]
    most = float(known.max()) if len(known) else 0.0
    if len(known) and float(known.min()) < 0:
        return np.empty(0), "are no shares of packets"
    if most <= 1:
        is_flag = bool(np.isin(known, (0.0, 1.0)).all())
        return values, "" if is_flag else "are shares of a row's packets"
    return (values / 100, "are percentages") if most <= 100 else (np.empty(0), "are no shares of packets")


def packets_per_row(shares: Floats, most: int) -> int:
    """Returns the fewest packets, but no more than `most`, of which all shares are whole numbers."""
    several = np.unique(shares)
    for packets in range(1, min(_FINEST, most) + 1):
        counts = several * packets
        is_whole = np.abs(counts - np.round(counts)) <= _CLOSE
        # No loss is small enough to be none.
        if (is_whole & ((np.round(counts) > 0) == (several > 0))).all():
            return packets
    return max(1, min(_FINEST, most))


def fates(shares: Floats, packets: int) -> Flags:
    """Returns the fates of `packets` packets of each row. Which of a row's were lost is not known: any."""
    carried = np.round(np.cumsum(shares * packets))
    counts: npt.NDArray[np.int64] = np.diff(carried, prepend=0.0).astype(np.int64)
    ranks = np.random.default_rng(0).random((len(shares), packets)).argsort(axis=1).argsort(axis=1)
    lost: Flags = (ranks < counts[:, np.newaxis]).reshape(-1)
    return lost
