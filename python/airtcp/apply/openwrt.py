"""Writes the changes for an OpenWrt router as a script of UCI commands, which runs there, not here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from airtcp.advise.deployment import CONGESTION_CONTROLS, FACTS, Place
from airtcp.apply.cures import CURES, PROBING
from airtcp.apply.errors import ApplyError
from airtcp.apply.parts import TIMER_FACTOR
from airtcp.apply.wanted import Wanted
from airtcp.facts.scheme import Scheme

KERNELS = {"reno": None, "cubic": None, "bbr": "kmod-tcp-bbr", "hybla": "kmod-tcp-hybla"}
"""OpenWrt's congestion controls and their packages; None if built into its kernel."""
SYSCTLS = "/etc/sysctl.d/90-airtcp.conf"
SHARE = 0.95
"""Share of the link's rate: a shaper must be slower for the queue to build up at it."""
FOR_PROXY = ("nftables", "kmod-nft-tproxy", "kmod-nft-socket")


@dataclass(frozen=True)
class _Section:
    """A section of /etc/config/airtcpd, a sysctl, or an SQM queue."""

    place: Place
    packages: tuple[str, ...]
    lines: tuple[str, ...]
    airtcpd: bool = False


def openwrt_script(wanted: Wanted, rate_bps: float | None) -> str:
    """Returns the script. Raises ApplyError for what OpenWrt lacks. `rate_bps` is the lossy link's, for a
    shaper."""
    found = list(_sections(wanted, rate_bps))
    here = [section for section in found if section.place in wanted.role]
    others = sorted({section.place for section in found} - wanted.role)
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


def _sections(wanted: Wanted, rate_bps: float | None) -> Iterator[_Section]:
    for term in Scheme(wanted.scheme).terms:
        name, keys = term.name, term.keys
        if name in CURES:
            yield _cure(name, keys)
            continue
        if name not in FACTS:
            raise ApplyError(f"unknown scheme {name}: see `airtcp schemes`")
        if name in CONGESTION_CONTROLS:
            yield from _sender(name, keys)
        elif name == "rto-m":
            if wanted.cgroup is None:
                raise ApplyError("rto-m applies to the connections of a v2 cgroup: give --cgroup PATH")
            yield _airtcpd(
                "sender", "rto", f"--factor {keys.get('m', TIMER_FACTOR)} --cgroup {wanted.cgroup}"
            )
        elif name == "packet-control":
            threshold = f"--ack-threshold {keys['threshold']}" if "threshold" in keys else ""
            yield _airtcpd("gateway", "filter", threshold, interface=wanted.wired or "wan")
        elif name == "split":
            yield from _proxy(keys, wanted)
        elif name == "decoupling":
            if wanted.circuit is None:
                raise ApplyError("a circuit has two ends: give this end's arguments with --circuit")
            yield _airtcpd("gateway", "circuit", wanted.circuit, packages=("kmod-tun",))
        elif FACTS[name].stage != "default":
            raise ApplyError(f"{name} is not available on OpenWrt: {FACTS[name].how}")
    if wanted.queue is not None:
        yield _queue(wanted, rate_bps)


def _cure(name: str, keys: dict[str, str]) -> _Section:
    if keys:
        raise ApplyError(f"{name} has no key on OpenWrt: leave out {', '.join(keys)}")
    if name == "mtu-probing":
        setting = f"{PROBING.key}={PROBING.value}"
        return _Section("sender", (), (f"echo {setting} >> {SYSCTLS}", f"sysctl -w {setting}"))
    # The firewall clamps the MSS of what leaves through a zone with mtu_fix.
    lines = (
        "for zone in $(uci show firewall | sed -n 's/^firewall\\.\\(.*\\)=zone$/\\1/p'); do",
        '  uci set "firewall.$zone.mtu_fix=1"',
        "done",
        "uci commit firewall",
        "/etc/init.d/firewall restart",
    )
    return _Section("gateway", (), lines)


def _sender(name: str, keys: dict[str, str]) -> Iterator[_Section]:
    if name in KERNELS and not keys:
        package = KERNELS[name]
        if name != "cubic":
            setting = f"net.ipv4.tcp_congestion_control={name}"
            lines = (f"echo {setting} > {SYSCTLS}", f"sysctl -p {SYSCTLS}")
            yield _Section("sender", (package,) if package else (), lines)
    elif FACTS[name].airtcp == "yes" or "airtcpd" in FACTS[name].how:
        scheme = ":".join([name, *(f"{key}={value}" for key, value in keys.items())])
        yield _airtcpd("sender", "cc", f"{scheme} --default")
    else:
        raise ApplyError(f"{name} is not available on OpenWrt: {FACTS[name].how}")


def _proxy(keys: dict[str, str], wanted: Wanted) -> Iterator[_Section]:
    control = keys.get("congestion_control")
    options = f"--wireless {wanted.wireless or 'br-lan'}"
    packages = list(FOR_PROXY)
    if control in KERNELS:
        package = KERNELS[control]
        packages += [package] if package else []
        options += f" --wireless-cc {control}"
    elif control:
        yield _airtcpd("gateway", "cc", control)
        options += f" --wireless-cc {control.replace('-', '_')}"
    yield _airtcpd("gateway", "proxy", options, packages=tuple(packages))


def _queue(wanted: Wanted, rate_bps: float | None) -> _Section:
    if wanted.queue != "fq-codel":
        raise ApplyError(
            f"{wanted.queue} is not available in SQM, OpenWrt's shaper: set it up manually with tc"
        )
    if rate_bps is None:
        raise ApplyError("a shaper needs the link's rate: run `airtcp advise` with a scenario")
    interface = wanted.wireless or "br-lan"
    kbit = round(SHARE * rate_bps / 1000)
    options = {
        "enabled": "1",
        "interface": interface,
        "upload": str(kbit),
        "download": "0",
        "qdisc": "fq_codel",
        "script": "simple.qos",
    }
    lines = ["uci -q delete sqm.airtcp || true", "uci set sqm.airtcp=queue"]
    lines += [f"uci set sqm.airtcp.{key}='{value}'" for key, value in options.items()]
    lines += ["uci commit sqm", "/etc/init.d/sqm enable", "/etc/init.d/sqm restart"]
    return _Section("gateway", ("sqm-scripts",), tuple(lines))


def _airtcpd(
    place: Place, kind: str, options: str, *, interface: str | None = None, packages: tuple[str, ...] = ()
) -> _Section:
    name = f"airtcpd.airtcp_{kind}"
    lines = [f"uci -q delete {name} || true", f"uci set {name}={kind}", f"uci set {name}.enabled='1'"]
    lines += [f"uci set {name}.interface='{interface}'"] if interface else []
    return _Section(place, packages, (*lines, f"uci set {name}.options='{options}'"), airtcpd=True)
