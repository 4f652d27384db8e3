"""What a line of ping's output says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

System = Literal["Linux", "macOS or BSD", "BusyBox", "Windows", "hping"]


@dataclass(frozen=True, slots=True)
class Begin:
    """`PING host (192.0.2.1) 56(84) bytes of data.`"""

    host: str
    system: System
    """BusyBox prints the same heading as macOS: only its answers differ."""
    ip_bytes: int
    first_sequence: int


@dataclass(slots=True)
class Answer:
    """Not frozen: there are millions of them, and a frozen one takes four times as long to create."""

    host: str
    sequence: int | None
    """None on Windows, which does not number them."""
    rtt_ms: float | None
    """None if the line is garbled or truncated, or if the packets were too small to carry a time."""
    at_s: float | None
    """When the answer came, from `-D`."""
    ip_bytes: int | None
    is_duplicate: bool = False
    is_below: bool = False
    """`time<1ms`."""
    system: System | None = None
    is_cut: bool = False
    """The answer was shorter than what it answers, and says so."""
    about_s: float | None = None
    """When the answer came, to the second, if another program has put that in front of the line."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """`no answer yet for icmp_seq=2`, `Request timed out.`, `From 192.0.2.9 icmp_seq=5 Packet filtered`"""

    sequence: int | None
    error: str = ""
    """What a router or this host reported, if anything."""
    too_long: bool = False
    """The packet is longer than the path's MTU."""
    mtu_bytes: int | None = None
    """That MTU, if the report names it."""
    system: System | None = None


@dataclass(frozen=True, slots=True)
class Statistics:
    """The heading above the summary."""


@dataclass(frozen=True, slots=True)
class Total:
    """`10 packets transmitted, 8 received, 20% packet loss, time 9012ms`"""

    sent: int
    received: int
    time_s: float | None


@dataclass(frozen=True, slots=True)
class Remark:
    """A line that does not count."""

    is_cut: bool = False
    """It says that the answer above was shorter than what it answers."""


Event = Begin | Answer | Unanswered | Statistics | Total | Remark
