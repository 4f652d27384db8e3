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


def split_name(name: str) -> tuple[str, str | None]:
    """Scheme and queue of `bbr @ fq-codel`."""
    scheme, _, queue = (word.strip() for word in name.partition("@"))
    return scheme, queue or None


def split_term(term: str) -> tuple[str, dict[str, str]]:
    """Name and keys of `westwood-vt:alpha=10`."""
    name, *pairs = (word.strip() for word in term.split(":"))
    keys: dict[str, str] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        keys[key.strip()] = value.strip()
    return name, keys
