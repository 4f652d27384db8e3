"""Writes the changes for an OpenWrt router as a script of UCI commands, which runs there, not here."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from airtcp.advise.deployment import CONGESTION_CONTROLS, FACTS, SETTINGS
from airtcp.apply.cures import PROBING
from airtcp.apply.errors import ApplyError
from airtcp.apply.here import ASK_FOR_ECN, RECOVERY
from airtcp.apply.parts import Keys, by_airtcpd, parts
from airtcp.apply.steps import Sysctl
from airtcp.apply.wanted import Site, Wanted

KERNELS = {"reno": None, "cubic": None, "bbr": "kmod-tcp-bbr", "hybla": "kmod-tcp-hybla"}
"""OpenWrt's congestion controls and their packages; None if built into its kernel."""
SYSCTLS = "/etc/sysctl.d/90-airtcp.conf"
SHARE = 0.95
"""Share of the link's rate: a shaper must be slower for the queue to build up at it."""
FOR_PROXY = ("nftables", "kmod-nft-tproxy", "kmod-nft-socket")


@dataclass(frozen=True)
class Section:
    """A section of /etc/config/airtcpd, sysctls, or an SQM queue."""

    lines: tuple[str, ...]
    packages: tuple[str, ...] = ()
    airtcpd: bool = False


def openwrt_script(wanted: Wanted, rate_bps: float | None) -> str:
    """Returns the script. Raises ApplyError for what OpenWrt lacks. `rate_bps` is the lossy link's, for a
    shaper."""
    found = list(parts(wanted, OpenWrt(wanted, rate_bps)))
    here = list(
        dict.fromkeys(section for part in found if part.place in wanted.role for section in part.done())
    )
    others = sorted({part.place for part in found} - wanted.role)
    role = " and ".join(sorted(wanted.role))
    lines = ["#!/bin/sh", f"# {wanted.name}, for a {role} with OpenWrt (22.03 or newer)."]
    lines += [f"# It also needs changes on the {other}: --role {other}." for other in others]
    if not here:
        return "\n".join([*lines, f"# Nothing to do on this {role}."]) + "\n"
    packages = dict.fromkeys(package for section in here for package in section.packages)
    lines += ["set -e"]
    lines += ["opkg update", f"opkg install {' '.join(packages)}"] if packages else []
    if any(section.airtcpd for section in here):
        lines += ["# airtcpd, its init script and configuration are in no feed: see packaging/README.md."]
        lines += ["[ -x /usr/sbin/airtcpd ] && [ -x /etc/init.d/airtcpd ]"]
    lines += [line for section in here for line in section.lines]
    if any(section.airtcpd for section in here):
        lines += ["uci commit airtcpd", "/etc/init.d/airtcpd enable", "/etc/init.d/airtcpd restart"]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class OpenWrt:
    """An OpenWrt router as a platform."""

    site: Site
    rate_bps: float | None

    def cure(self, name: str, keys: Keys) -> list[Section]:
        if keys:
            raise ApplyError(f"{name} has no key on OpenWrt: leave out {', '.join(keys)}")
        if name == "mtu-probing":
            return [_sysctls(PROBING)]
        # The firewall clamps the MSS of what leaves through a zone with mtu_fix.
        lines = (
            "for zone in $(uci show firewall | sed -n 's/^firewall\\.\\(.*\\)=zone$/\\1/p'); do",
            '  uci set "firewall.$zone.mtu_fix=1"',
            "done",
            "uci commit firewall",
            "/etc/init.d/firewall restart",
        )
        return [Section(lines)]

    def congestion_control(self, name: str, keys: Keys) -> list[Section]:
        if name in KERNELS and not keys:
            return [_sysctls(Sysctl("net.ipv4.tcp_congestion_control", name), packages=_packages(name))]
        marks = [_sysctls(ASK_FOR_ECN)] if CONGESTION_CONTROLS[name].needs_marks else []
        return [
            *marks,
            _loaded(name, "".join(f":{key}={value}" for key, value in keys.items()) + " --default"),
        ]

    def recovery(self, name: str) -> list[Section]:
        return [_sysctls(*(step for step in RECOVERY[name] if isinstance(step, Sysctl)))]

    def setting(self, key: str, value: str) -> list[Section]:
        if key == "ecn":
            return [_sysctls(ASK_FOR_ECN)] if value == "true" else []
        raise ApplyError(f"{key} must be set manually on OpenWrt: {SETTINGS[key].how}")

    def timer(self, factor: str, cgroup: str) -> list[Section]:
        return [_airtcpd("rto", f"--factor {factor} --cgroup {cgroup}")]

    def packet_control(self, options: tuple[str, ...]) -> list[Section]:
        return [_airtcpd("filter", shlex.join(options), interface=self.site.wired or "wan")]

    def split(self, congestion_control: str | None) -> list[Section]:
        options = f"--wireless {self.site.wireless or 'br-lan'}"
        if congestion_control is None:
            return [_airtcpd("proxy", options, packages=FOR_PROXY)]
        options += f" --wireless-cc {congestion_control.replace('-', '_')}"
        packages = (*FOR_PROXY, *_packages(congestion_control))
        loaded = [] if congestion_control in KERNELS else [_loaded(congestion_control)]
        return [*loaded, _airtcpd("proxy", options, packages=packages)]

    def circuit(self, program: str, arguments: tuple[str, ...]) -> list[Section]:
        if program != "circuit":
            raise ApplyError("on OpenWrt a circuit is a gateway's: begin --circuit with 'send' or 'receive'")
        return [_airtcpd(program, shlex.join(arguments), packages=("kmod-tun",))]

    def queue(self, name: str) -> list[Section]:
        if name != "fq-codel":
            raise ApplyError(f"{name} is not available in SQM, OpenWrt's shaper: set it up manually with tc")
        if self.rate_bps is None:
            raise ApplyError("a shaper needs the link's rate: run `airtcp advise` with a scenario")
        options = {
            "enabled": "1",
            "interface": self.site.wireless or "br-lan",
            "upload": str(round(SHARE * self.rate_bps / 1000)),
            "download": "0",
            "qdisc": "fq_codel",
            "script": "simple.qos",
        }
        lines = ["uci -q delete sqm.airtcp || true", "uci set sqm.airtcp=queue"]
        lines += [f"uci set sqm.airtcp.{key}='{value}'" for key, value in options.items()]
        lines += ["uci commit sqm", "/etc/init.d/sqm enable", "/etc/init.d/sqm restart"]
        return [Section(tuple(lines), ("sqm-scripts",))]


def _loaded(congestion_control: str, more: str = "") -> Section:
    if not by_airtcpd(congestion_control):
        raise ApplyError(f"{congestion_control} is not available on OpenWrt: {FACTS[congestion_control].how}")
    return _airtcpd("cc", congestion_control + more)


def _packages(congestion_control: str) -> tuple[str, ...]:
    package = KERNELS.get(congestion_control)
    return (package,) if package else ()


def _sysctls(*settings: Sysctl, packages: tuple[str, ...] = ()) -> Section:
    """Each key stands once in the file, however often the script runs."""
    lines: list[str] = []
    for setting in settings:
        lines += [f"touch {SYSCTLS}", f"sed -i '/^{setting.key}=/d' {SYSCTLS}"]
        lines += [f"echo {setting.key}={setting.value} >> {SYSCTLS}"]
    return Section((*lines, f"sysctl -p {SYSCTLS}"), packages)


def _airtcpd(
    kind: str, options: str, *, interface: str | None = None, packages: tuple[str, ...] = ()
) -> Section:
    name = f"airtcpd.airtcp_{kind}"
    lines = [f"uci -q delete {name} || true", f"uci set {name}={kind}", f"uci set {name}.enabled='1'"]
    lines += [f"uci set {name}.interface='{interface}'"] if interface else []
    return Section((*lines, f"uci set {name}.options='{options}'"), packages, airtcpd=True)
