"""What a file shows of a path, whatever its format: the readers' output and the only input of `fit`.

Missing information is None or empty, never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from airtcp.facts.headers import HEADER_BYTES
from airtcp.fit.findings import Value
from airtcp.fit.radio import Radio

Direction = Literal["forward", "reverse", "both"]
"""Direction of packets: with the data, against it, or a round trip, as for a ping."""

OTHER_WAY: dict[Direction, Direction] = {"forward": "reverse", "reverse": "forward", "both": "both"}

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_YEAR_2001_S = 1e9
"""Clocks that count from a host's start are below, those that count from 1970 above."""


def time_of_day(first_s: float) -> float | None:
    """Returns the time of the first packet if it is in seconds since 1970; None if since something else."""
    return first_s if _YEAR_2001_S < first_s < 10 * _YEAR_2001_S else None


@dataclass(frozen=True)
class RoundTrips:
    """Round trips in order of sending: `time_s` and `rtt_s` have the same shape (n,)."""

    time_s: Floats
    """When each was sent, in seconds since the first packet of the file."""
    rtt_s: Floats
    packet_bytes: float | None = None
    """Mean length of the IP packets, if known."""
    least_s: float | None = None
    """The lowest of all packets, if the file has it elsewhere: `rtt_s` are smoothed, or none met an empty
    queue."""
    began_s: float | None = None
    """When the first packet of the file was sent, in seconds since 1970; None if unknown."""


@dataclass(frozen=True)
class OneWay:
    """Delays of one direction in order of sending: `time_s` and `delay_s` have the same shape (n,)."""

    time_s: Floats
    """When each was sent, in seconds like `RoundTrips.time_s`."""
    delay_s: Floats
    direction: Direction
    packet_bytes: float
    """Length of the IP packets."""
    clock_error_s: float | None
    """Possible difference between the ends' clocks. None if unknown: then only differences count, and half of
    the lowest round trip stands in for the lowest delay."""


@dataclass(frozen=True)
class Fates:
    """The fate of each packet in order of sending; shape (n,)."""

    lost: Flags
    direction: Direction
    """`both` if it is unknown in which direction a packet was lost."""
    packet_bytes: float | None = None
    """Mean length of the IP packets, if known."""
    interval_s: float | None = None
    """Median time between packets, if known."""
    sent_s: Floats | None = None
    """When each was sent, in seconds like `RoundTrips.time_s`; shape (n,). None if unknown."""
    sizes: Floats | None = None
    """Length of each IP packet, shape (n,), if they differ."""


@dataclass(frozen=True)
class LossCount:
    """The number of lost packets, if it is unknown which they were."""

    packets: int
    """Packets sent."""
    lost: float
    """A fraction if it comes from a mean."""
    direction: Direction
    packet_bytes: float | None = None
    """Mean length of the IP packets, if known."""


@dataclass(frozen=True)
class Arrived:
    """What a transfer carried in all."""

    ip_bytes: float
    within_s: float
    """From the first packet sent until the last one arrived."""

    @property
    def rate_bps(self) -> float:
        return 8 * self.ip_bytes / self.within_s


@dataclass(frozen=True)
class Offered:
    """Packets that left at a rate of the sender's own choice, as UDP's do; all have the same shape (n,)."""

    interval_s: Floats
    packets: Floats
    """Packets sent in each interval."""
    lost: Floats
    """How many of them never arrived."""
    direction: Direction
    packet_bytes: float
    """Length of the IP packets."""


@dataclass(frozen=True)
class LengthCount:
    """How many packets of one length arrived, whatever else happened to them."""

    packet_bytes: float
    """Length of the IP packets."""
    sent: int
    """Packets sent, retransmissions included; at least."""
    arrived: int
    direction: Direction


@dataclass(frozen=True)
class Throughput:
    """Rate in bit/s over time: `time_s`, `interval_s` and `rate_bps` have the same shape (n,)."""

    time_s: Floats
    """When each interval began, in seconds since the first."""
    interval_s: Floats
    rate_bps: Floats
    direction: Direction
    is_capacity: bool
    """Whether this is the link's capacity. Otherwise it is a transfer's rate of IP packets, a lower bound."""
    rtt_s: Floats | None = None
    """The round trip of each interval, shape (n,), if the file has one."""
    arrived: Arrived | None = None
    """What arrived in all, if `rate_bps` is what the sender's application handed over."""
    is_usage: bool = False
    """Whether it is what users happened to send, mostly little, and not a transfer that tried to fill the
    link."""


@dataclass(frozen=True)
class TrainRates:
    """Rates of packet trains that disagree, in bit/s; all three have the same shape (n,)."""

    began_s: Floats
    """When the first packet of each left, in seconds since that of the first train."""
    took_s: Floats
    """How long each took to arrive."""
    rate_bps: Floats


@dataclass(frozen=True)
class LinkRate:
    """Capacity of the slowest link in bit/s of IP packets, as a transfer's packets show it."""

    direction: Direction
    at_least_bps: float
    """The transfer's best rate over a second: the path's capacity is at least that."""
    estimate_bps: float | None = None
    """Mode or mean of the packet-train rates; None if nothing filled the link."""
    crowd: float | None = None
    """Share of the bytes whose trains are within some 3 % of `estimate_bps`."""
    at_most_bps: float | None = None
    """Trains were rarely faster. Later queues may compress trains, so this is no hard bound."""
    trains: TrainRates | None = None
    """The trains one by one, if they disagree: the rate varies, or the delay."""


@dataclass(frozen=True)
class QueueRoom:
    """The length of the slowest link's queue under overload."""

    direction: Direction
    packets: float
    """Most full packets queued at a time."""
    is_full: bool
    """Whether arriving packets were then dropped. Otherwise the queue has room for more."""
    filled_by: str = "packet train"


@dataclass(frozen=True)
class Reordering:
    """How often packets arrived out of order."""

    packets: int
    late: int
    """Packets that arrived after a packet sent later."""
    late_by_s: Floats
    """How late they were, for those where it is known."""
    direction: Direction


@dataclass(frozen=True)
class Course:
    """What a transfer did over time; all have the same shape (n,), and NaN where it is unknown."""

    end_s: Floats
    """End of each interval, in seconds since the transfer began."""
    interval_s: Floats
    srtt_s: Floats
    """Smoothed round trip at the end of each interval, the mean of the connections."""
    cwnd_bytes: Floats
    """cwnd at the end of each interval, the mean of the connections, in bytes of payload."""
    resent: Floats
    """Retransmissions in each interval, of all connections."""


@dataclass(frozen=True)
class Transfer:
    """What a capture or `ss` reports of the TCP connection itself."""

    data_packets: int
    """Data packets sent for the first time."""
    retransmissions: int
    spurious: int | None = None
    """Retransmissions of data that had arrived, by DSACK, SACK or timestamps; None if unknown."""
    timeouts: int | None = None
    mss_bytes: int | None = None
    congestion_control: str | None = None
    ecn: bool | None = None
    direction: Direction = "forward"
    """Direction of the data."""
    connections: int = 1
    """Connections that carried it together, from the same moment on."""
    course: Course | None = field(default=None, compare=False)
    """None if it is unknown when what happened."""
    arrived: Arrived | None = None
    least_s: Value | None = None
    """The least round trip of all its packets, its handshake's included, which met no queue of its own, as
    near as its clock tells; None if the file does not."""

    @property
    def payload_share(self) -> float:
        """Share of a full packet that is payload."""
        mss_bytes = self.mss_bytes or 1448
        return mss_bytes / (mss_bytes + HEADER_BYTES)


@dataclass(frozen=True)
class Replay:
    """A file that a scenario can replay itself: the `trace` or `log` of a link."""

    key: Literal["trace", "log"]
    direction: Direction


@dataclass(frozen=True)
class Skipped:
    """Lines or packets that could not be read."""

    count: int
    first: str
    """The first of them and its place, e.g. `line 7: `foo``."""


@dataclass(frozen=True)
class Measurement:
    """The contents of one file."""

    source: Path
    format: str
    """In words, e.g. `ping (Linux, IPv4)`."""
    round_trips: RoundTrips | None = None
    fates: tuple[Fates, ...] = ()
    loss_counts: tuple[LossCount, ...] = ()
    lengths: tuple[LengthCount, ...] = ()
    """What shows which lengths the path takes, beside `fates` and `loss_counts`."""
    throughput: tuple[Throughput, ...] = ()
    offered: tuple[Offered, ...] = ()
    link_rates: tuple[LinkRate, ...] = ()
    one_way: tuple[OneWay, ...] = ()
    queue_rooms: tuple[QueueRoom, ...] = ()
    reordering: tuple[Reordering, ...] = ()
    transfer: Transfer | None = None
    replay: Replay | None = None
    load: Direction | None = None
    """Direction in which other traffic filled the link during the probes. None if the path was idle."""
    is_seen_from_far: bool = False
    """The forward direction is from the other host to this one, because data came from there."""
    path_mtu_bytes: int | None = None
    """The longest packet that passes, as probes found it."""
    reported_mtu_bytes: int | None = None
    """The path's MTU as a router reported it (RFC 1191, RFC 8201); the path takes nothing longer."""
    radio: Radio | None = None
    """What the radio on the path said of itself."""
    skipped: Skipped | None = None
    notes: tuple[str, ...] = field(default=())
    """What the user should know of this file, a sentence each."""

    @property
    def has_ways(self) -> bool:
        """Whether it distinguishes the two directions."""
        ways: list[Direction] = [part.direction for part in self.fates]
        ways += [part.direction for part in self.loss_counts]
        ways += [part.direction for part in self.throughput]
        ways += [part.direction for part in self.lengths]
        return bool(self.one_way or self.link_rates) or any(way != "both" for way in ways)

    @property
    def is_loaded(self) -> bool:
        """Whether round trips and losses include those of a filled queue."""
        return self.transfer is not None or self.load is not None

    def turned(self) -> Measurement:
        """Returns the measurement with the directions exchanged."""
        return replace(
            self,
            fates=_turned(self.fates),
            loss_counts=_turned(self.loss_counts),
            lengths=_turned(self.lengths),
            throughput=_turned(self.throughput),
            offered=_turned(self.offered),
            link_rates=_turned(self.link_rates),
            one_way=_turned(self.one_way),
            queue_rooms=_turned(self.queue_rooms),
            reordering=_turned(self.reordering),
            transfer=self.transfer and _turned((self.transfer,))[0],
            replay=self.replay and _turned((self.replay,))[0],
            load=None if self.load is None else OTHER_WAY[self.load],
            is_seen_from_far=not self.is_seen_from_far,
        )


@dataclass(frozen=True)
class Subjects:
    """The contents of a file that measures several paths. A fit takes one of them."""

    what: str
    """What they are, in the plural, e.g. `hosts`."""
    of: Mapping[str, Measurement]
    """By the name that the file gives to each."""
    usual: str | None = None
    """The one that is meant unless somebody chooses another; None if the file does not tell."""
    why: str = ""
    """Why none is meant, if that they are several is not the reason."""


Directed = TypeVar(
    "Directed",
    Fates,
    LossCount,
    LengthCount,
    Throughput,
    Offered,
    LinkRate,
    OneWay,
    QueueRoom,
    Reordering,
    Replay,
    Transfer,
)


def _turned(parts: tuple[Directed, ...]) -> tuple[Directed, ...]:
    return tuple(replace(part, direction=OTHER_WAY[part.direction]) for part in parts)
