"""A rule that lowers TCP's MSS to what the path takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
from airtcp.apply.steps.step import State, Step

TABLE = "airtcp-mss"
HEADERS = {"ip": 40, "ip6": 60}
"""Bytes of the IP and TCP headers without options (RFC 9293 §3.7.1)."""


@dataclass(frozen=True)
class MssClamp(Step):
    """An nft table that lowers the MSS option of SYNs that pass this host; nft never raises it."""

    KIND: ClassVar[str] = "mss-clamp"
    mtu: int | None = None
    """The path's MTU; None for that of the route each connection takes."""
    hooks: tuple[str, ...] = ("forward",)
    """Where in the kernel: `forward` for others' connections, `input` and `output` for this host's."""

    @property
    def table(self) -> str:
        """The table as nft takes it."""
        chains = (
            f"chain {hook} {{ type filter hook {hook} priority mangle; {'; '.join(self._rules)}; }};"
            for hook in self.hooks
        )
        return f"table inet {TABLE} {{ {' '.join(chains)} }}"

    @property
    def words(self) -> str:
        return f"nft '{self.table}'"

    def look(self, host: Host) -> State:
        if self._listed(host) is not None:
            raise ApplyError(
                f"nft has a table inet {TABLE} already: remove it first with nft delete table inet {TABLE}"
            )
        return {}

    def holds(self, host: Host) -> bool:
        listed = self._listed(host)
        return listed is not None and all(
            f"hook {hook} " in listed and rule in listed for hook in self.hooks for rule in self._rules
        )

    def do(self, host: Host) -> None:
        host.run("nft", self.table)

    def check(self, host: Host) -> str:
        super().check(host)
        to = "the route's MTU" if self.mtu is None else f"an MTU of {self.mtu} bytes"
        return f"new TCP connections through {' and '.join(self.hooks)} keep to {to}"

    def undo(self, host: Host, before: State) -> str | None:  # noqa: ARG002 there was none
        if self._listed(host) is not None:
            host.run("nft", "delete", "table", "inet", TABLE)
        return None

    @property
    def _rules(self) -> list[str]:
        if self.mtu is None:
            return ["tcp flags syn tcp option maxseg size set rt mtu"]
        return [
            f"meta nfproto {'ipv4' if family == 'ip' else 'ipv6'} tcp flags syn tcp option maxseg size set "
            f"{self.mtu - header}"
            for family, header in HEADERS.items()
        ]

    def _listed(self, host: Host) -> str | None:
        """Returns the table as nft lists it, in one line; None if there is none."""
        try:
            return " ".join(host.run("nft", "list", "table", "inet", TABLE).split())
        except ApplyError:
            if host.find("nft") is None:
                raise
            return None
