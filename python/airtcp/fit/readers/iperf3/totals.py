"""What iperf3's intervals and totals say of what was sent, and of what arrived."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from airtcp.fit.json_values import Json, number
from airtcp.fit.measurement import Arrived, Course, Direction, Floats, Offered

Column = Sequence[float]
BUFFERED_WINDOWS = 3.2
"""Linux grows a send buffer to two windows of socket memory; a packet of 1448 bytes takes 2304 of that."""


def arrived(received: Json, expansion: float) -> Arrived | None:
    """Returns what the receiver counted; `expansion` is a packet's length over that of its payload.

    The receiver's time ends when the last byte has arrived, after the queue.
    """
    payload_bytes, bps = number(received, "bytes"), number(received, "bits_per_second")
    within_s = number(received, "end") or number(received, "seconds")
    if payload_bytes is None or not within_s:
        return None
    # Old versions repeat the sender's time, which is shorter.
    within_s = max(within_s, 8 * payload_bytes / bps) if bps else within_s
    return Arrived(payload_bytes * expansion, within_s)


def sent(rate_bps: Column, interval_s: Column, windows: Column | Floats, expansion: float) -> Arrived:
    """Returns a lower bound without the receiver's count; `windows` are those of all connections together.

    The first interval fills the send buffer. What the buffer has grown by since then, or as much again, may
    wait there.
    """
    written, lengths = np.array(rate_bps) * np.array(interval_s) / 8, np.array(interval_s)
    first = 1 if len(written) > 1 else 0
    total, within_s = float(written[first:].sum()), float(lengths[first:].sum())
    filled = float(written[0] - total * lengths[0] / within_s)
    waiting = float(np.nanmax(BUFFERED_WINDOWS * np.array(windows) - filled, initial=filled))
    return Arrived(max(0.0, total - waiting) * expansion, within_s)


def course(interval_s: Column, rtt_s: Column, cwnd_bytes: Column, resent: Column, omitted_s: float) -> Course:
    lengths = np.array(interval_s)
    return Course(
        omitted_s + np.cumsum(lengths), lengths, np.array(rtt_s), np.array(cwnd_bytes), np.array(resent)
    )


def omitted_s(options: Json) -> float:
    """Returns the time for which the transfer had run before its first interval that counts."""
    return number(options, "omit", most=3600) or 0.0


def offered(
    parts: Iterable[Sequence[Column]], totals: Iterable[Json], way: Direction, packet_bytes: float
) -> Offered | None:
    """Returns UDP's packets of each interval, or in all if only the end tells the losses.

    An interval with negative losses takes back those of earlier ones, and says nothing by itself.
    """
    interval_s, packets, lost = (_joined(columns) for columns in parts)
    known = np.isfinite(packets) & np.isfinite(lost) & (lost >= 0) & (packets >= lost)
    if not known.any():
        rows = [(number(t, "seconds"), number(t, "packets"), number(t, "lost_packets")) for t in totals]
        whole = [row for row in rows if row[0] and row[1] and row[2] is not None]
        if not whole:
            return None
        interval_s, packets, lost = np.array(whole, dtype=np.float64).T
        known = packets >= lost
    return Offered(interval_s[known], packets[known], lost[known], way, packet_bytes)


def _joined(columns: Iterable[Column]) -> Floats:
    joined: Floats = np.concatenate([np.array(column) for column in columns])
    return joined
