"""What a file says of a path, whatever its format. Readers make it, `fit` reads nothing else.

What a file does not say is None or empty, never a guess.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

Direction = Literal["forward", "reverse", "both"]
"""Which way packets went: with the data, back, or there and back, as a ping goes."""

OTHER_WAY: dict[Direction, Direction] = {"forward": "reverse", "reverse": "forward", "both": "both"}

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class RoundTrips:
    """Round trips in order of sending: `time_s` and `rtt_s` have the same shape (n,)."""

    time_s: Floats
    """When each was sent, in seconds since the first packet of the file."""
    rtt_s: Floats
    packet_bytes: float | None = None
    """Mean length of the IP packets, if it is known."""
    least_s: float | None = None
    """The least of all packets, where the file has it and `rtt_s` are a smoothed few."""


@dataclass(frozen=True)
class OneWay:
    """Delays of one direction in order of sending: `time_s` and `delay_s` have the same shape (n,)."""

    time_s: Floats
    """When each was sent, in seconds as `RoundTrips.time_s`."""
    delay_s: Floats
    direction: Direction
    packet_bytes: float
    """Length of the IP packets."""
    clock_error_s: float | None
    """How far apart the ends' clocks may be. None: unknown, so that only differences count; half of the
    least round trip stands in for the least delay."""


@dataclass(frozen=True)
class Fates:
    """The fate of each packet in order of sending; shape (n,)."""

    lost: Flags
    direction: Direction
    """`both`: nobody knows on which way a lost one was lost."""
    packet_bytes: float | None = None
    """Mean length of the IP packets, if it is known."""
    interval_s: float | None = None
    """Median time from one packet to the next, if it is known."""
    sent_s: Floats | None = None
    """When each was sent, in seconds as `RoundTrips.time_s`; shape (n,). None where it is not known."""
    sizes: Floats | None = None
    """Length of each IP packet, shape (n,), where they are of several lengths."""


@dataclass(frozen=True)
class LossCount:
    """How many packets were lost, where the file does not tell which."""

    packets: int
    """Sent."""
    lost: int
    direction: Direction
    packet_bytes: float | None = None
    """Mean length of the IP packets, if it is known."""


@dataclass(frozen=True)
class Throughput:
    """Bits a second over time: `time_s`, `interval_s` and `rate_bps` have the same shape (n,)."""

    time_s: Floats
    """When each interval began, in seconds since the first."""
    interval_s: Floats
    rate_bps: Floats
    direction: Direction
    is_capacity: bool
    """What the link could carry. Otherwise what a transfer reached, of IP packets: a lower bound."""
    rtt_s: Floats | None = None
    """The round trip of each interval, shape (n,), where the file has one."""


@dataclass(frozen=True)
class LinkRate:
    """What the slowest link carries, in bits a second of IP packets, as a transfer's packets tell."""

    direction: Direction
    at_least_bps: float
    """The transfer's best over a second: the path has carried that."""
    estimate_bps: float | None = None
    """Where the rates of packet trains crowd; None: the rate varies, or nothing filled the link."""
    crowd: float | None = None
    """Share of the bytes whose trains are within some 3 % of `estimate_bps`."""
    at_most_bps: float | None = None
    """Rarely was a train faster. Later queues may press trains together: no hard bound."""


@dataclass(frozen=True)
class QueueRoom:
    """What waited in the queue of the slowest link when more came than it carries."""

    direction: Direction
    packets: float
    """Full ones, at most, at a time."""
    is_full: bool
    """Then what came was dropped. Otherwise there is room for more."""


@dataclass(frozen=True)
class Reordering:
    """How often packets came out of order."""

    packets: int
    late: int
    """Packets that came after one that was sent after them."""
    late_by_s: Floats
    """By how much, of those for which it is known."""
    direction: Direction


@dataclass(frozen=True)
class Transfer:
    """What a capture or `ss` reports of the TCP connection itself."""

    data_packets: int
    """Sent for the first time."""
    retransmissions: int
    spurious: int | None = None
    """Retransmissions of what had arrived, by DSACK, SACK or timestamps; None: cannot be told."""
    timeouts: int | None = None
    mss_bytes: int | None = None
    congestion_control: str | None = None
    ecn: bool | None = None
    direction: Direction = "forward"
    """The way of the data."""


@dataclass(frozen=True)
class Replay:
    """The file is itself something that a scenario can run: `trace` or `log` of a link."""

    key: Literal["trace", "log"]
    direction: Direction


@dataclass(frozen=True)
class Skipped:
    """Lines or packets that could not be read."""

    count: int
    first: str
    """The first of them, with its place, e.g. `line 7: `foo``."""


@dataclass(frozen=True)
class Measurement:
    """What one file says."""

    source: Path
    format: str
    """In words, e.g. `ping (Linux, IPv4)`."""
    round_trips: RoundTrips | None = None
    fates: tuple[Fates, ...] = ()
    loss_counts: tuple[LossCount, ...] = ()
    throughput: tuple[Throughput, ...] = ()
    link_rates: tuple[LinkRate, ...] = ()
    one_way: tuple[OneWay, ...] = ()
    queue_rooms: tuple[QueueRoom, ...] = ()
    reordering: tuple[Reordering, ...] = ()
    transfer: Transfer | None = None
    replay: Replay | None = None
    load: Direction | None = None
    """The way on which something else filled the link while probes were sent. None: the path was idle."""
    is_seen_from_far: bool = False
    """The forward direction is from the other host to this one, for data came from there."""
    path_mtu_bytes: int | None = None
    skipped: Skipped | None = None
    notes: tuple[str, ...] = field(default=())
    """What the user should know of this file, a sentence each."""

    @property
    def has_ways(self) -> bool:
        """Does it tell one way from the other?"""
        ways: list[Direction] = [part.direction for part in self.fates]
        ways += [part.direction for part in self.loss_counts]
        ways += [part.direction for part in self.throughput]
        return bool(self.one_way or self.link_rates) or any(way != "both" for way in ways)

    @property
    def is_loaded(self) -> bool:
        """Round trips and losses contain those of a queue that was filled."""
        return self.transfer is not None or self.load is not None

    def turned(self) -> Measurement:
        """With the way there for the way back."""
        return replace(
            self,
            fates=_turned(self.fates),
            loss_counts=_turned(self.loss_counts),
            throughput=_turned(self.throughput),
            link_rates=_turned(self.link_rates),
            one_way=_turned(self.one_way),
            queue_rooms=_turned(self.queue_rooms),
            reordering=_turned(self.reordering),
            transfer=self.transfer and _turned((self.transfer,))[0],
            replay=self.replay and _turned((self.replay,))[0],
            load=None if self.load is None else OTHER_WAY[self.load],
            is_seen_from_far=not self.is_seen_from_far,
        )


Directed = TypeVar(
    "Directed", Fates, LossCount, Throughput, LinkRate, OneWay, QueueRoom, Reordering, Replay, Transfer
)


def _turned(parts: tuple[Directed, ...]) -> tuple[Directed, ...]:
    return tuple(replace(part, direction=OTHER_WAY[part.direction]) for part in parts)
