"""Writes `queue` of each direction: its room, as packet trains or a transfer filled it."""

from __future__ import annotations

import numpy as np

from airtcp.fit.draft import Draft, Entry, number, table
from airtcp.fit.estimates import LossOf
from airtcp.fit.evidence import Evidence, From, there
from airtcp.fit.findings import Finding
from airtcp.fit.measurement import Direction, QueueRoom, RoundTrips
from airtcp.fit.path_delay import PACKET_BYTES
from airtcp.fit.path_settled import put_settled_queue

DEFAULT_ROOM_PACKETS = 50
"""The simulator's minimum default."""
MOST_ROOM_PACKETS = 1_000_000


def put_queue(draft: Draft, evidence: Evidence, losses: dict[Direction, LossOf]) -> None:
    """Writes the room that each direction's queue has shown. The draft must have rates and delays."""
    back_bps = draft.known_rates_bps[1] if draft.known_rates_bps else draft.rate_bps
    ways: tuple[tuple[Direction, float], ...] = (("forward", draft.rate_bps), ("reverse", back_bps))
    for way, rate_bps in ways:
        room = evidence.queue_rooms.get(way)
        if room is None and way == "forward" and put_settled_queue(draft):
            continue
        if room is not None:
            _room(draft, room, rate_bps)
        elif way in losses and losses[way].overflow is not None:
            _full(draft, losses[way], way, rate_bps)
        elif (loaded := evidence.loaded if way == "forward" else evidence.loaded_back) is not None:
            _queue(draft, loaded, way, rate_bps)


def _room(draft: Draft, found: From[QueueRoom], rate_bps: float) -> None:
    """Writes the room that packet trains filled: more than the default, or less and full."""
    room = min(MOST_ROOM_PACKETS, max(1, round(found.what.packets)))
    least_s = draft.delay.base_s.best if draft.delay is not None else 0.0
    if room <= _default_room(least_s, rate_bps) and not found.what.is_full:
        return
    way = found.what.direction
    how = (
        "Beyond it, packets of a train were dropped"
        if found.what.is_full
        else f"A {found.what.filled_by} filled that much"
    )
    shown = f"{room} packets" if found.what.is_full else f"at least {room} packets"
    _put(draft, way, room, shown, f"{how}, in {found.name}.")


def _default_room(least_s: float, rate_bps: float) -> int:
    return max(DEFAULT_ROOM_PACKETS, int(least_s * rate_bps / 8 / PACKET_BYTES))


def _full(draft: Draft, found: LossOf, way: Direction, rate_bps: float) -> None:
    """Writes the room of a queue whose overflow a transfer shows, even if that is less than the default."""
    if found.overflow is None:
        return
    wait_s = found.overflow.longest_wait_s
    packet_bytes = found.source.what.packet_bytes or PACKET_BYTES
    room = min(MOST_ROOM_PACKETS, max(1, round(wait_s * rate_bps / 8 / packet_bytes)))
    how = (
        f"The queue of {found.source.name} overflowed when packets waited {number(wait_s * 1e3)} ms longer "
        "than the least."
    )
    _put(draft, way, room, f"{room} packets", how)


def _queue(draft: Draft, loaded: From[RoundTrips], way: Direction, rate_bps: float) -> None:
    """Writes the room that a transfer filled, if it exceeds the default."""
    known = loaded.what.rtt_s[np.isfinite(loaded.what.rtt_s)]
    if len(known) == 0:
        return
    least = float(known.min())
    longest = float(np.quantile(known, 0.99)) - least
    room = min(MOST_ROOM_PACKETS, int(longest * rate_bps / 8 / PACKET_BYTES))
    if room <= _default_room(least, rate_bps):
        return
    how = f"Round trips in {loaded.name} were up to {number(longest * 1e3)} ms longer than the least."
    _put(draft, way, room, f"at least {room} packets", how)


def _put(draft: Draft, way: Direction, room: int, shown: str, how: str) -> None:
    finding = Finding(f"room in the queue {there(way)}", shown, "", how)
    draft.found.append(finding)
    entry = Entry("queue", table(packets=str(room)), (finding.text,))
    (draft.forward if way == "forward" else draft.reverse).append(entry)
