"""What sends probes and receives their answers, by whatever means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from airtcp.measure.sockets import Host


class Answer(NamedTuple):
    """To one probe. Times in ns; the delays of either way are by two clocks, or None."""

    sequence: int
    rtt_ns: int
    there_ns: int | None = None
    back_ns: int | None = None


class Prober(Protocol):
    """One way to probe a host. Sequence numbers begin at 0 and are the prober's own."""

    name: str
    """In a word, as logs have it, e.g. `icmp`."""
    host: Host
    has_sizes: bool
    """Can it send packets of any length?"""

    def fileno(self) -> int:
        """To wait at."""

    def send(self, ip_bytes: int) -> int | None:
        """Sends a packet so long; answers its sequence number, None where it did not leave this host."""

    def answers(self) -> Iterator[Answer]:
        """What has come since."""

    def close(self) -> None:
        """Sends no more."""


class ProbeError(Exception):
    """The host cannot be probed so: says why."""
