"""Probes with two processes of `ping`, for small and for full packets, if only that program may send ICMP."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from airtcp.fit.readers.ping.events import Answer as Line
from airtcp.fit.readers.ping.lines import event
from airtcp.measure.prober import Answer, ProbeError
from airtcp.measure.sockets import Host

LEAST_INTERVAL_S = 0.2
"""Older versions refuse shorter intervals without root."""
LATE = 3
"""An answer may arrive after those of this many later packets."""
_LONGEST_LINE = 4096


@dataclass
class _Ping:
    """One process. It sends on its own clock; its answers show which packets it has sent."""

    process: subprocess.Popen[bytes]
    rest: bytes = b""
    answers: dict[int, int] = field(default_factory=dict)
    """RTT in ns by ping's own number, of packets not yet returned."""
    latest: int = 0
    """The highest number answered."""
    next: int = 1

    def read(self) -> None:
        assert self.process.stdout is not None
        while content := self.process.stdout.read(1 << 16):
            *lines, self.rest = (self.rest + content).split(b"\n")
            self.rest = self.rest[-_LONGEST_LINE:]
            for line in lines:
                found = event(line.decode("utf-8", "replace").strip())
                if not isinstance(found, Line) or found.rtt_ms is None or found.sequence is None:
                    continue
                if found.sequence >= self.next:
                    self.answers.setdefault(found.sequence, round(found.rtt_ms * 1e6))
                    self.latest = max(self.latest, found.sequence)


class PingProgram:
    """`ping` decides when to send: a packet counts as sent once a few later ones are answered."""

    has_sizes = True

    def __init__(self, host: Host, interval_s: float) -> None:
        """`interval_s`: between two packets of one length.

        # Raises
        ProbeError: there is no `ping`.
        """
        self.host = host
        self.name = "ping"
        self._program = shutil.which("ping") or ""
        if not self._program:
            raise ProbeError("the program `ping` is not installed")
        self._interval_s = interval_s if os.geteuid() == 0 else max(interval_s, LEAST_INTERVAL_S)
        self._next = 0
        self._poll = select.epoll()
        self._pings: dict[int, _Ping] = {}
        """By length of the IP packets."""
        self._answers: deque[Answer] = deque()

    def fileno(self) -> int:
        return self._poll.fileno()

    def send(self, ip_bytes: int) -> int | None:
        ping = self._pings.get(ip_bytes)
        if ping is None:
            try:
                ping = self._pings[ip_bytes] = self._start(ip_bytes)
            except OSError:
                return None
        ping.read()
        if ping.next > ping.latest - LATE:
            return None
        sequence = self._next
        self._next += 1
        rtt_ns = ping.answers.pop(ping.next, None)
        ping.next += 1
        if rtt_ns is not None:
            self._answers.append(Answer(sequence, rtt_ns))
        return sequence

    def answers(self) -> Iterator[Answer]:
        while self._answers:
            yield self._answers.popleft()

    def close(self) -> None:
        for ping in self._pings.values():
            ping.process.terminate()
            ping.process.wait()
            if ping.process.stdout:
                ping.process.stdout.close()
        self._poll.close()

    def _start(self, ip_bytes: int) -> _Ping:
        payload = max(ip_bytes - self.host.header_bytes, 16)
        command = [self._program, "-n", "-i", f"{self._interval_s:g}", "-s", str(payload)]
        process = subprocess.Popen(
            [*command, self.host.address],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
        )
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        return _Ping(process)
