"""Units of systemd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
from airtcp.apply.steps.step import State, Step

IS_RUNNING = "/run/systemd/system"
"""Exists while systemd is this host's init (sd_booted(3))."""


@dataclass(frozen=True)
class Unit(Step):
    """A unit to start at each boot, beginning with the next one; until then the other steps hold."""

    KIND: ClassVar[str] = "unit"
    name: str
    options: str = ""
    """File that says what it does at boot, written by an earlier step."""

    @property
    def place(self) -> str:
        """Where the unit itself is, if an earlier step writes it."""
        return f"/etc/systemd/system/{self.name}"

    @property
    def words(self) -> str:
        return f"systemctl enable {self.name}"

    def look(self, host: Host) -> State:
        if self.holds(host):
            raise ApplyError(f"{self.name} is already enabled, with its own options: disable it first")
        return {}

    def holds(self, host: Host) -> bool:
        try:
            return host.run("systemctl", "is-enabled", self.name).strip() == "enabled"
        except ApplyError:
            return False

    def do(self, host: Host) -> None:
        host.run("systemctl", "enable", self.name)

    def undo(self, host: Host, before: State) -> str | None:  # noqa: ARG002 it was not enabled
        # After a reboot it runs and must be stopped.
        stop = ["--now"] if host.path(IS_RUNNING).is_dir() else []
        if self.holds(host):
            host.run("systemctl", "disable", *stop, self.name)
        return None
