"""Socket options that probes need and the standard library does not name."""

from __future__ import annotations

import socket
import struct
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

# Linux: include/uapi/asm-generic/socket.h, linux/in.h, linux/in6.h.
_SO_TIMESTAMPNS = 35
_SO_SNDBUFFORCE, _SO_RCVBUFFORCE = 32, 33
_IP_MTU_DISCOVER, _IP_MTU = 10, 14
_IPV6_MTU_DISCOVER, _IPV6_MTU = 23, 24
_PMTUDISC_DO = 2
_TIMESPEC = struct.Struct("@ll")
_TRAFFIC_CLASS = {(socket.IPPROTO_IP, 1), (socket.IPPROTO_IPV6, 67)}
"""Ancillary data IP_TOS and IPV6_TCLASS."""
_ROOM_BYTES = 4 << 20
LONGEST = 65535
SMALL_PAYLOAD = 56
"""Payload of a probe after the UDP or ICMP header: the same as a ping's."""
TRANSPORT_BYTES = 8
"""Length of the UDP header and of the ICMP echo header."""


@dataclass(frozen=True)
class Host:
    """The destination of probes."""

    name: str
    family: socket.AddressFamily
    address: str
    scope: int = 0

    @property
    def header_bytes(self) -> int:
        """Length of the headers of IP and UDP or ICMP."""
        return (40 if self.family == socket.AF_INET6 else 20) + TRANSPORT_BYTES

    def at(self, port: int) -> tuple[str, int] | tuple[str, int, int, int]:
        """Returns the address as sockets take it."""
        if self.family == socket.AF_INET6:
            return (self.address, port, 0, self.scope)
        return (self.address, port)


def resolve(name: str) -> Host:
    """Returns the first address to which this host has a route.

    # Raises
    OSError, UnicodeError: there is none.
    """
    found = socket.getaddrinfo(name, None, type=socket.SOCK_DGRAM)
    for family, _, _, _, place in found:
        if family not in (socket.AF_INET, socket.AF_INET6):
            continue
        scope = place[3] if len(place) == 4 else 0
        host = Host(name, family, str(place[0]), int(scope))
        if device_mtu(host) is not None:
            return host
    raise OSError(f"no route to {name}")


def device_mtu(host: Host) -> int | None:
    """Returns the path MTU as the kernel knows it, initially the interface's. None: there is no route."""
    try:
        with socket.socket(host.family, socket.SOCK_DGRAM) as probe:
            probe.connect(host.at(9))
            if sys.platform != "linux":
                return 1500
            if host.family == socket.AF_INET6:
                return probe.getsockopt(socket.IPPROTO_IPV6, _IPV6_MTU)
            return probe.getsockopt(socket.IPPROTO_IP, _IP_MTU)
    except OSError:
        return None


def prepare(sock: socket.socket) -> None:
    """Sets up non-blocking mode, kernel timestamps, room for a burst, and no fragmentation."""
    sock.setblocking(False)
    for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        sock.setsockopt(socket.SOL_SOCKET, option, _ROOM_BYTES)
    if sys.platform != "linux":
        return
    for option in (_SO_RCVBUFFORCE, _SO_SNDBUFFORCE):
        # As root, exceed net.core.rmem_max: packets dropped here would look lost on the path.
        with suppress(PermissionError):
            sock.setsockopt(socket.SOL_SOCKET, option, _ROOM_BYTES)
    sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    if sock.family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, _IPV6_MTU_DISCOVER, _PMTUDISC_DO)
    else:
        sock.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _PMTUDISC_DO)


def show_ecn(sock: socket.socket) -> None:
    """Lets received packets show their ECN codepoint, where the system can."""
    with suppress(OSError, AttributeError):
        if sock.family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
        else:
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)


def set_ecn(sock: socket.socket, codepoint: int) -> None:
    """Sets the ECN codepoint of what is sent from now on (RFC 3168 §5)."""
    if sock.family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, codepoint)
    else:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, codepoint)


class Received(NamedTuple):
    """A packet. `at_ns` is its arrival, since 1970."""

    data: bytes
    at_ns: int
    source: tuple[object, ...]
    ecn: int | None


def receive(sock: socket.socket) -> tuple[bytes, int, tuple[object, ...]] | None:
    """Returns a packet, its arrival in ns since 1970, and its source. None: there is none."""
    found = receive_all(sock)
    return None if found is None else (found.data, found.at_ns, found.source)


def receive_all(sock: socket.socket) -> Received | None:
    """As `receive`, with all that the system tells."""
    try:
        data, ancillary, _, source = sock.recvmsg(LONGEST, 128)
    except (BlockingIOError, InterruptedError):
        return None
    except OSError:
        # An ICMP message about an earlier packet, whose fate says as much.
        return None
    at_ns, ecn = None, None
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS and len(content) == _TIMESPEC.size:
            seconds, nanoseconds = _TIMESPEC.unpack(content)
            at_ns = seconds * 1_000_000_000 + nanoseconds
        elif (level, kind) in _TRAFFIC_CLASS and content:
            ecn = int.from_bytes(content, sys.byteorder) & 0b11
    return Received(data, time.time_ns() if at_ns is None else at_ns, source, ecn)
