"""What connections show of the lengths that the path takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from airtcp.facts.headers import HEADER_BYTES
from airtcp.fit.measurement import LengthCount
from airtcp.fit.readers.ss.connection import Fields

_SYN_BYTES = 60
_HANDSHAKE = 2
"""The SYN, and the ACK of the other end's."""
_RESENT = 3
"""So many retransmissions show that it is no single loss."""
_NEARLY = 0.9


def lengths(latest: Iterable[Fields]) -> Iterator[LengthCount]:
    """Yields the packets of sending connections, by their latest samples, if some connection's full segments
    were never acknowledged."""
    counts = [count for fields in latest for count in _of(fields)]
    if any(not count.arrived for count in counts):
        yield from counts


def _of(fields: Fields) -> Iterator[LengthCount]:
    mss, segments, unacked = (_number(fields, name) for name in ("mss", "data_segs_out", "unacked"))
    if not mss or "bytes_acked" not in fields or "bytes_sent" not in fields:
        return
    # The SYN counts as a byte.
    acked = max(0.0, _number(fields, "bytes_acked") - 1)
    resent = int(fields.get("retrans", (0.0, None))[1] or 0)
    arrived = max(0, int(segments - unacked) - resent)
    yield LengthCount(_SYN_BYTES, _HANDSHAKE, _HANDSHAKE, "forward")
    if arrived:
        yield LengthCount(HEADER_BYTES + acked / arrived, arrived, arrived, "forward")
    waiting = _number(fields, "bytes_sent") - _number(fields, "bytes_retrans") - acked
    is_full = unacked > 0 and waiting >= _NEARLY * mss * unacked
    if acked < mss and resent >= _RESENT and is_full:
        yield LengthCount(HEADER_BYTES + mss, int(unacked) + resent, 0, "forward")


def _number(fields: Fields, name: str) -> float:
    return fields[name][0] if name in fields else 0.0
