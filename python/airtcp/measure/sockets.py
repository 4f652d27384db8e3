"""What probes need of sockets, and the standard library does not name."""

from __future__ import annotations

import socket
import struct
import sys
import time
from contextlib import suppress
from dataclasses import dataclass

# Linux: include/uapi/asm-generic/socket.h, linux/in.h, linux/in6.h.
_SO_TIMESTAMPNS = 35
_SO_SNDBUFFORCE, _SO_RCVBUFFORCE = 32, 33
_IP_MTU_DISCOVER, _IP_MTU = 10, 14
_IPV6_MTU_DISCOVER, _IPV6_MTU = 23, 24
_PMTUDISC_DO = 2
_TIMESPEC = struct.Struct("@ll")
_ROOM_BYTES = 4 << 20
LONGEST = 65535
SMALL_PAYLOAD = 56
"""Of a probe, behind the headers of UDP or ICMP: as much as a ping has."""
TRANSPORT_BYTES = 8
"""Headers of UDP and of ICMP echo alike."""


@dataclass(frozen=True)
class Host:
    """Where probes go."""

    name: str
    family: socket.AddressFamily
    address: str
    scope: int = 0

    @property
    def header_bytes(self) -> int:
        """Of IP and UDP or ICMP."""
        return (40 if self.family == socket.AF_INET6 else 20) + TRANSPORT_BYTES

    def at(self, port: int) -> tuple[str, int] | tuple[str, int, int, int]:
        """As sockets take it."""
        if self.family == socket.AF_INET6:
            return (self.address, port, 0, self.scope)
        return (self.address, port)


def resolve(name: str) -> Host:
    """The first address that this host has a way to.

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
    """The path MTU as far as the kernel knows it: at first the interface's. None: there is no way."""
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
    """Non-blocking, with dates from the kernel, room for a burst, and no fragments."""
    sock.setblocking(False)
    for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        sock.setsockopt(socket.SOL_SOCKET, option, _ROOM_BYTES)
    if sys.platform != "linux":
        return
    for option in (_SO_RCVBUFFORCE, _SO_SNDBUFFORCE):
        # As root, more than net.core.rmem_max: what finds no room here would look lost on the path.
        with suppress(PermissionError):
            sock.setsockopt(socket.SOL_SOCKET, option, _ROOM_BYTES)
    sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    if sock.family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, _IPV6_MTU_DISCOVER, _PMTUDISC_DO)
    else:
        sock.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _PMTUDISC_DO)


def receive(sock: socket.socket) -> tuple[bytes, int, tuple[object, ...]] | None:
    """A packet, when it came in ns since 1970, and from where. None: there is none."""
    try:
        data, ancillary, _, source = sock.recvmsg(LONGEST, 64)
    except (BlockingIOError, InterruptedError):
        return None
    except OSError:
        # What an ICMP message says of an earlier packet: that one's fate tells as much.
        return None
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS and len(content) == _TIMESPEC.size:
            seconds, nanoseconds = _TIMESPEC.unpack(content)
            return data, seconds * 1_000_000_000 + nanoseconds, source
    return data, time.time_ns(), source
