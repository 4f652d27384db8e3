"""What is to be used on a path, and what this host is there."""

from __future__ import annotations

from dataclasses import dataclass

from airtcp.advise.deployment import Place

ROLES: tuple[Place, ...] = ("sender", "receiver", "gateway")


@dataclass(frozen=True)
class Wanted:
    """`scheme` and `queue` as advice has them."""

    scheme: str
    queue: str | None = None
    role: frozenset[Place] = frozenset({"sender"})
    """What this host is on the path."""
    wireless: str | None = None
    """The interface to the lossy link."""
    wired: str | None = None
    """The interface to the fixed hosts."""
    cgroup: str | None = None
    """Whose connections have another timer."""
    circuit: str | None = None
    """The arguments of `airtcpd circuit`."""
    persistent: bool = False
    """After a reboot, too."""

    @property
    def name(self) -> str:
        """As `airtcp advise` prints it."""
        return self.scheme if self.queue is None else f"{self.scheme} @ {self.queue}"
