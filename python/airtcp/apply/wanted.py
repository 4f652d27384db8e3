"""What to use on a path, and this host's role there."""

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
    """This host's places on the path."""
    wireless: str | None = None
    """Interface to the lossy link."""
    wired: str | None = None
    """Interface to the fixed hosts."""
    cgroup: str | None = None
    """Cgroup whose connections get another timer."""
    circuit: str | None = None
    """Arguments of `airtcpd circuit`."""
    persistent: bool = False
    """Keep the change after a reboot."""

    @property
    def name(self) -> str:
        """The name as `airtcp advise` prints it."""
        return self.scheme if self.queue is None else f"{self.scheme} @ {self.queue}"
