"""What `airtcpd` loads into the kernel, where it stays until it is removed or the host restarts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
from airtcp.apply.steps.step import State, Step
from airtcp.apply.steps.sysctl import available


@dataclass(frozen=True)
class LoadedControl(Step):
    """`airtcpd cc load`."""

    KIND: ClassVar[str] = "cc"
    scheme: str
    """In scheme syntax: `westwood-vt:alpha=10`."""

    @property
    def kernel_name(self) -> str:
        """The control's name in the kernel."""
        return self.scheme.split(":")[0].replace("-", "_")

    @property
    def words(self) -> str:
        return f"airtcpd cc load {self.scheme}"

    def look(self, host: Host) -> State:
        if self.kernel_name in available(host):
            raise ApplyError(
                f"the kernel has {self.kernel_name} already, and its parameters may be others: "
                f"`airtcpd cc unload {self.kernel_name}` first, or apply it without parameters"
            )
        return {}

    def holds(self, host: Host) -> bool:
        return ":" not in self.scheme and self.kernel_name in available(host)

    def do(self, host: Host) -> None:
        host.run("airtcpd", "cc", "load", self.scheme)

    def check(self, host: Host) -> str:
        if self.kernel_name not in available(host):
            raise ApplyError(f"{self.words} ran, but the kernel does not list {self.kernel_name}")
        return f"the kernel has {self.kernel_name}"

    def undo(self, host: Host, before: State) -> str | None:  # noqa: ARG002 there was none
        if self.kernel_name in available(host):
            host.run("airtcpd", "cc", "unload", self.kernel_name)
        return None


@dataclass(frozen=True)
class Timer(Step):
    """`airtcpd rto`."""

    KIND: ClassVar[str] = "rto"
    factor: float
    cgroup: str

    @property
    def _arguments(self) -> list[str]:
        return ["--factor", f"{self.factor:g}", "--cgroup", self.cgroup]

    @property
    def words(self) -> str:
        return f"airtcpd rto {' '.join(self._arguments)}"

    def look(self, host: Host) -> State:
        if _answer(host, "rto", "status") is not None:
            raise ApplyError("an `airtcpd rto` rule is already installed: remove it with `airtcpd rto off`")
        return {}

    def holds(self, host: Host) -> bool:  # noqa: ARG002 a rule that is there may be another one
        return False

    def do(self, host: Host) -> None:
        host.run("airtcpd", "rto", *self._arguments)

    def check(self, host: Host) -> str:
        if _answer(host, "rto", "status") is None:
            raise ApplyError(f"{self.words} ran, but no rule is installed")
        return f"the timer of new connections of {self.cgroup} has the factor {self.factor:g}"

    def undo(self, host: Host, before: State) -> str | None:  # noqa: ARG002 there was none
        if _answer(host, "rto", "status") is not None:
            host.run("airtcpd", "rto", "off")
        return None


@dataclass(frozen=True)
class Filter(Step):
    """`airtcpd filter attach`."""

    KIND: ClassVar[str] = "filter"
    interface: str
    options: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return " ".join(["airtcpd filter attach", self.interface, *self.options])

    def look(self, host: Host) -> State:
        if self._is_attached(host):
            raise ApplyError(
                f"{self.interface} already has a "
                f"filter: remove it with `airtcpd filter detach {self.interface}`"
            )
        return {}

    def holds(self, host: Host) -> bool:  # noqa: ARG002 a filter that is there may have other options
        return False

    def do(self, host: Host) -> None:
        host.run("airtcpd", "filter", "attach", self.interface, *self.options)

    def check(self, host: Host) -> str:
        if not self._is_attached(host):
            raise ApplyError(f"{self.words} ran, but {self.interface} has no filter")
        return f"packet control is attached to {self.interface}: `airtcpd filter status` shows what it does"

    def undo(self, host: Host, before: State) -> str | None:  # noqa: ARG002 there was none
        if self._is_attached(host):
            host.run("airtcpd", "filter", "detach", self.interface)
        return None

    def _is_attached(self, host: Host) -> bool:
        return any(
            each.get("interface") == self.interface and each.get("here", True)
            for each in _answer(host, "filter", "list")
        )


def _answer(host: Host, *command: str) -> Any:
    return json.loads(host.run("airtcpd", *command, "--json"))
