"""The queue discipline of an interface."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
from airtcp.apply.steps.step import State, Step

OF_THE_KERNEL = "0:"
"""Handle of the kernel's automatic queue, which returns when another one is removed."""

UNKNOWN = "qdisc kind is unknown"
"""The kernel's error if it lacks the queue and found no module for it."""


@dataclass(frozen=True)
class Qdisc(Step):
    """The queue at an interface's root, in place of the kernel's automatic one."""

    KIND: ClassVar[str] = "qdisc"
    interface: str
    discipline: str
    options: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return " ".join(["tc qdisc replace dev", self.interface, "root", self.discipline, *self.options])

    def now(self, before: State) -> str:
        return f"now {before['discipline']}"

    def look(self, host: Host) -> State:
        found = self._root(host)
        if found["handle"] != OF_THE_KERNEL:
            raise ApplyError(
                f"{self.interface} has a configured queue ({found['kind']} {found['handle']}), which undo "
                f"could not restore: remove it first with tc qdisc del dev {self.interface} root"
            )
        return {"discipline": found["kind"]}

    def holds(self, host: Host) -> bool:
        return bool(self._root(host)["kind"] == self.discipline)

    def do(self, host: Host) -> None:
        try:
            host.run("tc", "qdisc", "replace", "dev", self.interface, "root", self.discipline, *self.options)
        except ApplyError as error:
            if UNKNOWN not in str(error):
                raise
            raise ApplyError(
                f"this kernel has no {self.discipline}, and no module sch_{self.discipline}: install the "
                "kernel's modules, or omit the queue"
            ) from error

    def check(self, host: Host) -> str:
        super().check(host)
        return f"{self.interface} has {self.discipline}, including for forwarded traffic"

    def undo(self, host: Host, before: State) -> str | None:
        found = self._root(host, or_none=True)
        if found is None or (found["kind"], found["handle"]) == (before["discipline"], OF_THE_KERNEL):
            return None
        if found["kind"] != self.discipline:
            return (
                f"{self.interface} has {found['kind']}, not set by airtcp: it had "
                f"{before['discipline']} before"
            )
        if found["handle"] != OF_THE_KERNEL:
            host.run("tc", "qdisc", "del", "dev", self.interface, "root")
        return None

    def _root(self, host: Host, *, or_none: bool = False) -> Any:
        try:
            told = json.loads(host.run("tc", "-j", "qdisc", "show", "dev", self.interface))
        except ApplyError:
            if or_none:
                return None
            raise
        found = next((each for each in told if each.get("root")), None)
        if found is None and not or_none:
            raise ApplyError(f"tc shows no queue for {self.interface}: does the interface exist?")
        return found
