"""What an iperf3 test over TCP shows of the lengths that the path takes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from airtcp.fit.json_values import Json, number
from airtcp.fit.measurement import Direction, LengthCount
from airtcp.fit.readers.iperf3.way import Way

INITIAL_WINDOW = 10
"""Segments that a sender sends before the first acknowledgment (RFC 6928)."""
COOKIE_BYTES = 89
"""The packet with which iperf3 opens each connection: a cookie of 37 bytes, and the headers."""
CONTROL_MESSAGES = 8
"""Least number of short packets each way before both ends can tell each other their results."""


_INTERVALS = 3
"""After fewer, a slow path may have acknowledged nothing yet."""


def lengths(
    sent: Json, received: Json, way: Direction, connections: int, mss_bytes: float, packet_bytes: float
) -> Iterator[LengthCount]:
    """Yields the packets of which it is known whether they arrived, from what either end counted in all.

    Without a retransmission, a test has ended before anything could arrive.
    """
    written, arrived = number(sent, "bytes"), number(received, "bytes")
    resent = int(number(sent, "retransmits", most=1e12) or 0)
    if not written or arrived is None or not resent:
        return
    yield LengthCount(COOKIE_BYTES, CONTROL_MESSAGES, CONTROL_MESSAGES, "both")
    if arrived < mss_bytes:
        first = min(INITIAL_WINDOW * connections, math.ceil(written / mss_bytes))
        yield LengthCount(packet_bytes, first + resent, 0, way)
    else:
        segments = int(arrived // mss_bytes)
        yield LengthCount(packet_bytes, segments + resent, segments, way)


def is_stuck(way: Way, mss_bytes: float) -> bool:
    """Returns whether a sender with a full buffer got no acknowledgment, until its cwnd was a segment."""
    written, rtts = list(way.rate_bps), set(way.rtt_s)
    return (
        len(written) >= _INTERVALS
        and not any(written[1:])
        and len(rtts) == 1
        and way.cwnd_bytes[-1] <= mss_bytes
    )


def is_unheard(sent: Json, received: Json) -> bool:
    """Returns whether something was sent, and the receiver counted nothing."""
    return bool(number(sent, "bytes")) and number(received, "bytes") == 0
