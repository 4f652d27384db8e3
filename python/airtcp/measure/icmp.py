"""Sends pings: through unprivileged ICMP sockets if the system allows them, else through raw ones (root)."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Iterator

from airtcp.measure.prober import Answer, ProbeError
from airtcp.measure.sockets import Host, prepare, receive_all, set_ecn, show_ecn

_HEADER = struct.Struct("!BBHHH")
"""Type, code, checksum, identifier, sequence (RFC 792, RFC 4443 §4)."""
_BODY = struct.Struct("!8sIQ")
"""Our magic, sequence, time of sending in ns."""
_REQUEST = {socket.AF_INET: 8, socket.AF_INET6: 128}
_REPLY = {socket.AF_INET: 0, socket.AF_INET6: 129}
_ICMPV6_FILTER = 1


class Icmp:
    """Probes with echo requests and replies."""

    has_sizes = True

    def __init__(self, host: Host) -> None:
        """# Raises
        ProbeError: neither kind of socket is allowed."""
        self.host = host
        self.name = "icmp"
        self._mark = os.urandom(8)
        self._identifier = int.from_bytes(os.urandom(2), "big")
        self._next = 0
        self._socket, self._is_raw = _open(host)
        show_ecn(self._socket)

    def fileno(self) -> int:
        return self._socket.fileno()

    def set_ecn(self, codepoint: int) -> None:
        """Sets the ECN codepoint of the pings from now on."""
        set_ecn(self._socket, codepoint)

    def send(self, ip_bytes: int) -> int | None:
        sequence = self._next
        self._next += 1
        payload = max(ip_bytes - self.host.header_bytes, _BODY.size)
        body = _BODY.pack(self._mark, sequence, time.time_ns()).ljust(payload, b"\xa5")
        kind = _REQUEST[self.host.family]
        check = 0
        if self.host.family == socket.AF_INET:
            head = _HEADER.pack(kind, 0, 0, self._identifier, sequence & 0xFFFF)
            check = checksum(head + body)
        head = _HEADER.pack(kind, 0, check, self._identifier, sequence & 0xFFFF)
        try:
            self._socket.sendto(head + body, self.host.at(0))
        except OSError:
            return None
        return sequence

    def answers(self) -> Iterator[Answer]:
        while (packet := receive_all(self._socket)) is not None:
            if str(packet.source[0]).partition("%")[0] != self.host.address.partition("%")[0]:
                continue
            if (answer := self._answer(packet.data, packet.at_ns, packet.ecn)) is not None:
                yield answer

    def close(self) -> None:
        self._socket.close()

    def _answer(self, data: bytes, received_ns: int, ecn: int | None = None) -> Answer | None:
        """Returns None if it answers no probe of ours."""
        if self._is_raw and self.host.family == socket.AF_INET:
            # The kernel includes the IP header.
            data = data[(data[0] & 0x0F) * 4 :] if data else data
        if len(data) < _HEADER.size + _BODY.size or data[0] != _REPLY[self.host.family] or data[1] != 0:
            return None
        mark, sequence, sent_ns = _BODY.unpack_from(data, _HEADER.size)
        if mark != self._mark or sequence >= self._next or not 0 <= received_ns - sent_ns < 10**12:
            return None
        return Answer(sequence, received_ns - sent_ns, ecn=ecn)


def _open(host: Host) -> tuple[socket.socket, bool]:
    protocol = socket.IPPROTO_ICMPV6 if host.family == socket.AF_INET6 else socket.IPPROTO_ICMP
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
        try:
            opened = socket.socket(host.family, kind, protocol)
        except OSError:
            continue
        prepare(opened)
        if kind == socket.SOCK_RAW and host.family == socket.AF_INET6:
            # Accept echo replies only (RFC 3542 §3.2).
            wanted = _REPLY[host.family]
            blocked = bytearray(b"\xff" * 32)
            word = int.from_bytes(blocked[wanted // 32 * 4 : wanted // 32 * 4 + 4], "little")
            word &= ~(1 << wanted % 32)
            blocked[wanted // 32 * 4 : wanted // 32 * 4 + 4] = word.to_bytes(4, "little")
            opened.setsockopt(socket.IPPROTO_ICMPV6, _ICMPV6_FILTER, bytes(blocked))
        return opened, kind == socket.SOCK_RAW
    raise ProbeError("this system does not allow ICMP sockets (net.ipv4.ping_group_range)")


def checksum(data: bytes) -> int:
    """Returns the Internet checksum (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
