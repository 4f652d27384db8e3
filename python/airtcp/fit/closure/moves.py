"""Steps from one path to others that differ from it in one quantity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from airtcp.fit.bottleneck import PACKET_BYTES, Bottleneck, Cause
from airtcp.fit.closure.known import Known

STEP = 0.25
"""The first step in most quantities, as a share."""

Move = Callable[[Bottleneck, float], tuple[Bottleneck, Bottleneck]]
"""Makes of a path, and a share of the first step, one with more of a quantity and one with less."""


@dataclass(frozen=True)
class Steps:
    """The first steps in rate and room, as shares, and how often they are halved."""

    rate: float
    room: float
    rounds: int


def moves(cause: Cause, steps: Steps, known: Known) -> Iterator[Move]:
    """Yields what makes of a path two that differ in one quantity. With a longer base, the longest round trip
    stays."""
    if known.rate_bps is None and steps.rate > 0:
        yield _either_way(steps.rate, _faster)
    if cause == "policer":
        yield _either_way(3 * STEP, lambda path, by: path.with_(burst_bytes=path.burst_bytes * by))
    else:
        yield _either_way(steps.room, lambda path, by: path.with_(room_packets=path.room_packets * by))
    if cause == "random":
        yield _either_way(STEP, lambda path, by: path.with_(loss=known.possible_loss(path.loss * by)))
    if cause == "random":
        yield _either_way(2.0, lambda path, by: path.with_(run_packets=max(1.0, path.run_packets * by)))
    if known.base_s is None:
        yield _either_way(STEP, lambda path, by: based(path, path.base_s * by))


def _either_way(first_step: float, change: Callable[[Bottleneck, float], Bottleneck]) -> Move:
    def move(path: Bottleneck, share_of_step: float) -> tuple[Bottleneck, Bottleneck]:
        by = 1 + first_step * share_of_step
        return change(path, by), change(path, 1 / by)

    return move


def _faster(path: Bottleneck, by: float) -> Bottleneck:
    """A queue that takes as long to drain."""
    return path.with_(rate_bps=path.rate_bps * by, room_packets=path.room_packets * by)


def based(path: Bottleneck, base_s: float) -> Bottleneck:
    """Another empty path's round trip, and the same longest one."""
    longer = (base_s - path.base_s) * path.rate_bps / 8 / PACKET_BYTES
    room = path.room_packets if path.cause == "policer" else max(2.0, path.room_packets - longer)
    return path.with_(base_s=base_s, room_packets=room)
