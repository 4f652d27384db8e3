"""Sysctls and modules of the kernel."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import ClassVar

from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
from airtcp.apply.steps.step import State, Step

AVAILABLE = "net.ipv4.tcp_available_congestion_control"
ALLOWED = "net.ipv4.tcp_allowed_congestion_control"


@dataclass(frozen=True)
class Sysctl(Step):
    """One key of /proc/sys."""

    KIND: ClassVar[str] = "sysctl"
    key: str
    value: str

    @property
    def words(self) -> str:
        return f"sysctl -w {self.key}={_quoted(self.value)}"

    def now(self, before: State) -> str:
        return f"now {before['value']}"

    def look(self, host: Host) -> State:
        found = host.sysctl(self.key)
        if found is None:
            raise ApplyError(f"this kernel has no {self.key}")
        return {"value": found}

    def holds(self, host: Host) -> bool:
        return host.sysctl(self.key) == self.value

    def do(self, host: Host) -> None:
        host.set_sysctl(self.key, self.value)

    def undo(self, host: Host, before: State) -> str | None:
        found = host.sysctl(self.key)
        if found == self.value:
            host.set_sysctl(self.key, before["value"])
        elif found != before["value"]:
            return f"{self.key} is {found}, not set by airtcp: it was {before['value']} before"
        return None


@dataclass(frozen=True)
class DefaultControl(Step):
    """The default congestion control of new connections in this network namespace."""

    KIND: ClassVar[str] = "default-control"
    KEY: ClassVar[str] = "net.ipv4.tcp_congestion_control"
    name: str

    @property
    def _sysctl(self) -> Sysctl:
        return Sysctl(self.KEY, self.name)

    @property
    def words(self) -> str:
        return self._sysctl.words

    def now(self, before: State) -> str:
        return self._sysctl.now(before)

    def look(self, host: Host) -> State:
        """Returns the current state. Outside the initial network namespace the kernel accepts only what
        ALLOWED lists, so this tries it."""
        before = self._sysctl.look(host)
        try:
            host.set_sysctl(self.KEY, before["value"])
        except ApplyError as error:
            raise ApplyError(
                f"undo could not restore {before['value']}: outside the host's first network namespace the "
                f"kernel takes only {host.sysctl(ALLOWED)}; add it there to {ALLOWED}"
            ) from error
        return {**before, "allowed": host.sysctl(ALLOWED)}

    def holds(self, host: Host) -> bool:
        return self._sysctl.holds(host)

    def do(self, host: Host) -> None:
        try:
            self._sysctl.do(host)
        except ApplyError as error:
            if self.name not in (host.sysctl(ALLOWED) or "").split():
                raise ApplyError(
                    f"{error}: outside the host's first network namespace the kernel takes only "
                    f"{host.sysctl(ALLOWED)}; add it there to {ALLOWED}"
                ) from error
            raise

    def check(self, host: Host) -> str:
        super().check(host)
        found = control_of_a_new_connection()
        if found != self.name:
            raise ApplyError(f"{self.KEY} is {self.name}, but a new connection uses {found}")
        return f"a new connection uses {found}"

    def undo(self, host: Host, before: State) -> str | None:
        left = self._sysctl.undo(host, before)
        # Making it the default also allowed it for everyone.
        if not left and before["allowed"] and host.sysctl(ALLOWED) != before["allowed"]:
            self._forbid(host, before["allowed"])
        return left

    def _forbid(self, host: Host, allowed: str) -> None:
        found = set((host.sysctl(ALLOWED) or "").split())
        if found - set(allowed.split()) == {self.name}:
            host.set_sysctl(ALLOWED, allowed)


@dataclass(frozen=True)
class Module(Step):
    """A congestion control or queue discipline that is a kernel module."""

    KIND: ClassVar[str] = "module"
    name: str
    control: str
    """The kernel's name of the congestion control."""

    @property
    def words(self) -> str:
        return f"modprobe {self.name}"

    def look(self, host: Host) -> State:
        return {"loaded": self.holds(host)}

    def holds(self, host: Host) -> bool:
        return self.control in available(host)

    def do(self, host: Host) -> None:
        host.run("modprobe", self.name)

    def undo(self, host: Host, before: State) -> str | None:
        if before["loaded"] or not self.holds(host):
            return None
        try:
            host.run("modprobe", "-r", self.name)
        except ApplyError as error:
            return f"the module {self.name} stays loaded while connections use it ({error})"
        return None


def available(host: Host) -> list[str]:
    """Returns the congestion controls that the kernel has."""
    return (host.sysctl(AVAILABLE) or "").split()


def control_of_a_new_connection() -> str:
    """Returns the control of a connection over the loopback interface; of a new socket if loopback is
    down."""
    with socket.socket() as server, socket.socket() as client:
        try:
            server.bind(("127.0.0.1", 0))
            server.listen(1)
            client.settimeout(2)
            client.connect(server.getsockname())
        except OSError:
            # Loopback is down. A new socket too starts with the namespace's default.
            pass
        return client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()


def _quoted(value: str) -> str:
    return f"'{value}'" if " " in value else value
