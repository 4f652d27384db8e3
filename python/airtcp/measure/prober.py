"""The interface of everything that sends probes and receives their answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from airtcp.measure.sockets import Host


class Answer(NamedTuple):
    """An answer to one probe. Times are in ns; one-way delays are between two clocks, or None."""

    sequence: int
    rtt_ns: int
    there_ns: int | None = None
    back_ns: int | None = None
    ecn: int | None = None
    """Its ECN codepoint, if that is known."""


class Prober(Protocol):
    """A way to probe a host. Sequence numbers begin at 0 and are the prober's own."""

    name: str
    """One word for the logs, e.g. `icmp`."""
    host: Host
    has_sizes: bool
    """Whether it can send packets of any length."""

    def fileno(self) -> int:
        """Returns the descriptor to wait on."""

    def send(self, ip_bytes: int) -> int | None:
        """Sends a packet of that length; returns its sequence number, or None if it did not leave this
        host."""

    def answers(self) -> Iterator[Answer]:
        """Yields the answers since the last call."""

    def close(self) -> None:
        """Stops sending."""


class ProbeError(Exception):
    """The host cannot be probed this way: says why."""
