"""Probes with TCP handshakes or their refusal if ICMP is unavailable. All packets are small."""

from __future__ import annotations

import errno
import select
import socket
import struct
import time
from collections.abc import Iterator

from airtcp.measure.prober import Answer, ProbeError
from airtcp.measure.sockets import Host

PORTS = (443, 80, 22)
RESENT_AFTER_NS = 950_000_000
"""A SYN is resent after a second (RFC 6298 §2.1): after such a time the first one was lost."""
_LONGEST_OPEN_NS = 3_000_000_000
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: close with a reset, and leave nothing in TIME-WAIT."""


class TcpProbe:
    """Opens a connection per probe."""

    has_sizes = False

    def __init__(self, host: Host) -> None:
        """# Raises
        ProbeError: no port answers."""
        self.host = host
        self.name = "tcp"
        self._next = 0
        self._open: dict[int, tuple[int, int, socket.socket]] = {}
        """By file descriptor: sequence, time of sending, socket."""
        self._poll = select.epoll()
        self._port = next((port for port in PORTS if self._responds(port)), None)
        if self._port is None:
            self._poll.close()
            raise ProbeError(f"no answer of TCP ports {', '.join(map(str, PORTS))}")

    def fileno(self) -> int:
        return self._poll.fileno()

    def send(self, ip_bytes: int) -> int | None:  # noqa: ARG002 a SYN has the length that it has
        sequence = self._next
        self._next += 1
        return sequence if self._connect(sequence, self._port or 0) else None

    def answers(self) -> Iterator[Answer]:
        now = time.monotonic_ns()
        for file, _ in self._poll.poll(0):
            sequence, sent_ns, opened = self._open[file]
            error = opened.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            self._forget(file)
            if error in (0, errno.ECONNREFUSED) and now - sent_ns < RESENT_AFTER_NS:
                yield Answer(sequence, now - sent_ns)
        for file, (_, sent_ns, _) in list(self._open.items()):
            if now - sent_ns > _LONGEST_OPEN_NS:
                self._forget(file)

    def close(self) -> None:
        for file in list(self._open):
            self._forget(file)
        self._poll.close()

    def _connect(self, sequence: int, port: int) -> bool:
        try:
            opened = socket.socket(self.host.family, socket.SOCK_STREAM)
        except OSError:
            return False
        opened.setblocking(False)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        sent_ns = time.monotonic_ns()
        if opened.connect_ex(self.host.at(port)) not in (0, errno.EINPROGRESS, errno.ECONNREFUSED):
            opened.close()
            return False
        self._open[opened.fileno()] = (sequence, sent_ns, opened)
        self._poll.register(opened.fileno(), select.EPOLLOUT)
        return True

    def _responds(self, port: int) -> bool:
        sequence = self._next
        self._next += 1
        if not self._connect(sequence, port):
            return False
        self._poll.poll(0.9)
        return any(answer.sequence == sequence for answer in self.answers())

    def _forget(self, file: int) -> None:
        _, _, opened = self._open.pop(file)
        self._poll.unregister(file)
        opened.close()
