"""What to use on a path, and this host's place there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from airtcp.advise.deployment import SENDER, Place
from airtcp.facts.scheme import Scheme

ROLES: tuple[Place, ...] = ("sender", "receiver", "gateway")


@dataclass(frozen=True, kw_only=True)
class Site:
    """This host on the path, as options describe it."""

    role: frozenset[Place] = frozenset()
    """This host's places on the path; empty if nobody has said."""
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

    def wanted(self, use: str, *, own: Place) -> Wanted:
        """What is to be done to use a scheme here, where this host's place is `own` if nobody has said."""
        scheme = Scheme(use)
        site = replace(self, role=self.role or frozenset({own}))
        return Wanted(scheme.without_queue, scheme.queue, **vars(site))


@dataclass(frozen=True)
class Wanted(Site):
    """`scheme` and `queue` as advice has them."""

    scheme: str
    queue: str | None = None
    role: frozenset[Place] = field(default=SENDER, kw_only=True)

    @property
    def name(self) -> str:
        """The name as `airtcp advise` prints it."""
        return self.scheme if self.queue is None else f"{self.scheme} @ {self.queue}"
