"""The BPF file system, in which airtcpd pins what it loads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
from airtcp.apply.steps.step import State, Step

PLACE = "/sys/fs/bpf"


@dataclass(frozen=True)
class BpfFileSystem(Step):
    """Mounts it where distributions do."""

    KIND: ClassVar[str] = "bpf-file-system"

    @property
    def words(self) -> str:
        return f"mount -t bpf bpf {PLACE}"

    def look(self, host: Host) -> State:  # noqa: ARG002 there is none
        return {}

    def holds(self, host: Host) -> bool:
        mounts = host.path("/proc/self/mounts").read_text().splitlines()
        return any(line.split()[1:3] == [PLACE, "bpf"] for line in mounts)

    def do(self, host: Host) -> None:
        host.run("mount", "-t", "bpf", "-o", "nosuid,nodev,noexec,mode=700", "bpf", PLACE)

    def undo(self, host: Host, before: State) -> str | None:  # noqa: ARG002 there was none
        if not self.holds(host):
            return None
        if [each for each in host.path(PLACE).rglob("*") if not each.is_dir() and "debug" not in each.name]:
            return f"{PLACE} stays mounted: it holds programs not loaded by airtcp"
        try:
            host.run("umount", PLACE)
        except ApplyError as error:
            return f"{PLACE} stays mounted: {error}"
        return None
