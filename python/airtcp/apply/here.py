"""The steps with which this host does what a part of a scheme needs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from airtcp.advise.deployment import CONGESTION_CONTROLS, KERNELS, QUEUES, SETTINGS
from airtcp.apply.cures import CURES
from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
from airtcp.apply.parts import Keys, by_airtcpd, cannot
from airtcp.apply.steps import (
    BpfFileSystem,
    DefaultControl,
    Filter,
    LoadedControl,
    Module,
    Qdisc,
    Service,
    Step,
    Sysctl,
    Timer,
)
from airtcp.apply.steps.sysctl import available
from airtcp.apply.wanted import Site

RECOVERY: dict[str, tuple[Step, ...]] = {
    "newreno": (Sysctl("net.ipv4.tcp_sack", "0"), Sysctl("net.ipv4.tcp_recovery", "0")),
    "sack": (Sysctl("net.ipv4.tcp_recovery", "0"),),
}
ASK_FOR_ECN = Sysctl("net.ipv4.tcp_ecn", "1")
RMEM = "net.ipv4.tcp_rmem"
WMEM = "net.ipv4.tcp_wmem"
UNITS = {"": 1, "B": 1, "kB": 1000, "MB": 1000**2, "GB": 1000**3, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}


@dataclass(frozen=True)
class Here:
    """This host as a platform. It looks at itself, and changes nothing yet."""

    host: Host
    site: Site

    def cure(self, name: str, keys: Keys) -> list[Step]:
        return CURES[name].steps(dict(keys), self.site.role)

    def congestion_control(self, name: str, keys: Keys) -> list[Step]:
        return congestion_control(name, keys, self.host)

    def recovery(self, name: str) -> list[Step]:
        return list(RECOVERY[name])

    def setting(self, key: str, value: str) -> list[Step]:
        if key == "ecn":
            return [ASK_FOR_ECN] if value == "true" else []
        if key == "send_buffer":
            return [self._buffer(WMEM, "4096 16384 4194304", _in_bytes(key, value))]
        if key == "receive_window":
            # Linux offers half of the buffer as window if tcp_adv_win_scale has its default, 1.
            return [self._buffer(RMEM, "4096 131072 6291456", 2 * _in_bytes(key, value))]
        raise ApplyError(f"{key} must be set manually: {SETTINGS[key].how}")

    def timer(self, factor: str, cgroup: str) -> list[Step]:
        return [BpfFileSystem(), Timer(float(factor), cgroup)]

    def packet_control(self, options: tuple[str, ...]) -> list[Step]:
        if self.site.wired is None:
            raise ApplyError("packet-control needs --wired IFACE, the gateway's interface to the fixed hosts")
        return [BpfFileSystem(), Filter(self.site.wired, options)]

    def split(self, congestion_control: str | None) -> list[Step]:
        if self.site.wireless is None:
            raise ApplyError("split needs --wireless IFACE, the gateway's interface to the mobile hosts")
        arguments = ["proxy", "run", "--wireless", self.site.wireless]
        needed: list[Step] = []
        if congestion_control is not None:
            *needed, default = self.congestion_control(congestion_control, {})
            assert isinstance(default, DefaultControl)
            arguments += ["--wireless-cc", default.name]
        return [*needed, Service("proxy", tuple(arguments))]

    def circuit(self, program: str, arguments: tuple[str, ...]) -> list[Step]:
        return [Service(program, (program, *arguments))]

    def queue(self, name: str) -> list[Step]:
        if name != "fq-codel":
            how = QUEUES[name].how
            raise ApplyError(f"{name} is set by hand, for its thresholds depend on the link: {how}")
        if self.site.wireless is None:
            raise ApplyError("fq-codel needs --wireless IFACE, the interface where the queue builds up")
        return [Qdisc(self.site.wireless, "fq_codel")]

    def _buffer(self, sysctl: str, kernels: str, size: int) -> Sysctl:
        """Changes the largest size alone, unless the initial one is larger."""
        least, default, _ = (int(number) for number in (self.host.sysctl(sysctl) or kernels).split())
        most = max(least, size)
        return Sysctl(sysctl, f"{least} {min(default, most)} {most}")


def congestion_control(name: str, keys: Keys, host: Host) -> list[Step]:
    """Returns the steps that make it the default for new connections; that step is last. Raises
    ApplyError."""
    kernels = KERNELS.get(name)
    if kernels and not keys:
        # A module that is loaded now is not at the next boot.
        if _has_module(host, f"tcp_{kernels}"):
            return [Module(f"tcp_{kernels}", kernels), DefaultControl(kernels)]
        if kernels in available(host):
            return [DefaultControl(kernels)]
    if not by_airtcpd(name):
        if kernels and keys:
            raise ApplyError(f"Linux's {kernels} has no such setting: leave out {', '.join(keys)}")
        raise cannot(name, f" This kernel has {', '.join(available(host))}.")
    if host.find("airtcpd") is None:
        raise ApplyError(f"{name} needs airtcpd, which is not on this host: install it (`make field`)")
    loaded = LoadedControl(":".join([name, *(f"{key}={value}" for key, value in keys.items())]))
    marks: list[Step] = [ASK_FOR_ECN] if CONGESTION_CONTROLS[name].needs_marks else []
    return [*marks, BpfFileSystem(), loaded, DefaultControl(loaded.kernel_name)]


def _in_bytes(key: str, size: str) -> int:
    found = re.fullmatch(r"([0-9.]+)\s*([A-Za-z]*)", size)
    if found is None or found[2] not in UNITS:
        raise ApplyError(f"{key}={size}: write a size, for example 120kB")
    return round(float(found[1]) * UNITS[found[2]])


def _has_module(host: Host, name: str) -> bool:
    """Returns whether there is such a module, loaded or not, rather than a part of the kernel."""
    try:
        shown = host.run("modprobe", "--show-depends", name)
    except ApplyError:
        return False
    return not shown.startswith("builtin")
