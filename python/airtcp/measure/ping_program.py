"""Where this system lets only its `ping` send ICMP: two of them, for small and for full packets."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from airtcp.fit.readers.ping.lines import Answer as Line
from airtcp.fit.readers.ping.lines import event
from airtcp.measure.prober import Answer, ProbeError
from airtcp.measure.sockets import Host

_LONGEST_LINE = 4096


@dataclass
class _Ping:
    """One process, which sends by itself; its packets are handed out as it numbers them."""

    process: subprocess.Popen[bytes]
    first: int
    """ping's number of its first packet: 1, or 0 on some systems."""
    rest: bytes = b""
    sequences: dict[int, int] = field(default_factory=dict)
    """Of its packets, ours."""
    sent: int = 0
    early: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=1024))
    """Answers to packets that are not handed out yet: number and round trip in ns."""


class PingProgram:
    """Its own clock sends; `send` says which of its packets is which."""

    has_sizes = True

    def __init__(self, host: Host, interval_s: float) -> None:
        """`interval_s`: between two packets of one length.

        # Raises
        ProbeError: there is no `ping`, or it does not run.
        """
        self.host = host
        self.name = "ping"
        self._program = shutil.which("ping") or ""
        if not self._program:
            raise ProbeError("there is no program `ping`")
        self._interval_s = interval_s
        self._next = 0
        self._poll = select.epoll()
        self._pings: dict[int, _Ping] = {}
        """By length of the IP packets."""

    def fileno(self) -> int:
        return self._poll.fileno()

    def send(self, ip_bytes: int) -> int | None:
        ping = self._pings.get(ip_bytes)
        if ping is None:
            try:
                ping = self._pings[ip_bytes] = self._start(ip_bytes)
            except OSError:
                return None
        if ping.process.poll() is not None:
            return None
        sequence = self._next
        self._next += 1
        ping.sequences[ping.first + ping.sent] = sequence
        ping.sent += 1
        return sequence

    def answers(self) -> Iterator[Answer]:
        for ping in self._pings.values():
            for number, rtt_ns in self._read(ping):
                ping.early.append((number, rtt_ns))
            for _ in range(len(ping.early)):
                number, rtt_ns = ping.early.popleft()
                sequence = ping.sequences.pop(number, None)
                if sequence is not None:
                    yield Answer(sequence, rtt_ns)
                elif number >= ping.first + ping.sent:
                    ping.early.append((number, rtt_ns))

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
        self._poll.register(process.stdout.fileno(), select.EPOLLIN)
        return _Ping(process, first=1)

    def _read(self, ping: _Ping) -> Iterator[tuple[int, int]]:
        assert ping.process.stdout is not None
        while content := ping.process.stdout.read(1 << 16):
            *lines, ping.rest = (ping.rest + content).split(b"\n")
            ping.rest = ping.rest[-_LONGEST_LINE:]
            for line in lines:
                found = event(line.decode("utf-8", "replace").strip())
                if not isinstance(found, Line) or found.rtt_ms is None or found.sequence is None:
                    continue
                if not found.is_duplicate:
                    yield found.sequence, round(found.rtt_ms * 1e6)
        if ping.process.poll() is not None:
            # At its end a pipe is always readable.
            time.sleep(0.001)
