"""Turns what each part of a scheme needs from a host into steps."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from airtcp.advise.deployment import (
    CONGESTION_CONTROLS,
    FACTS,
    KERNELS,
    QUEUES,
    SETTINGS,
    STAGES,
    TUNNELS,
    Facts,
    Place,
)
from airtcp.apply.cures import CURES
from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
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
from airtcp.apply.wanted import Wanted
from airtcp.facts.scheme import Scheme

RECOVERY: dict[str, tuple[Step, ...]] = {
    "newreno": (Sysctl("net.ipv4.tcp_sack", "0"), Sysctl("net.ipv4.tcp_recovery", "0")),
    "sack": (Sysctl("net.ipv4.tcp_recovery", "0"),),
}
ASK_FOR_ECN = Sysctl("net.ipv4.tcp_ecn", "1")
RMEM = "net.ipv4.tcp_rmem"
WMEM = "net.ipv4.tcp_wmem"
UNITS = {"": 1, "B": 1, "kB": 1000, "MB": 1000**2, "GB": 1000**3, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
TIMER_FACTOR = "10"
"""Paper 003 §V, and the default of `rto-m`."""


@dataclass(frozen=True)
class Part:
    """What one place needs. `steps` looks at the host, and raises ApplyError."""

    place: Place
    how: str
    steps: Callable[[], list[Step]]


def parts(wanted: Wanted, host: Host) -> Iterator[Part]:
    """Yields what a scheme and its queue need beyond Linux's defaults. Raises ApplyError."""
    for term in Scheme(wanted.scheme).terms:
        settings = {key: value for key, value in term.keys.items() if key in SETTINGS}
        others = {key: value for key, value in term.keys.items() if key not in SETTINGS}
        yield from _part(term.name, others, wanted, host)
        for key, value in settings.items():
            yield from _setting(key, value, host)
    if wanted.queue is not None:
        facts = _known(wanted.queue, QUEUES)
        yield Part("gateway", facts.how, lambda: _queue(wanted, facts))


def _part(name: str, keys: dict[str, str], wanted: Wanted, host: Host) -> Iterator[Part]:
    if name in CURES:
        cure = CURES[name]
        # With keys of its own it works on any host, for that host's connections.
        place = cure.place if cure.place in wanted.role or not keys else min(wanted.role)
        yield Part(place, cure.how, lambda: cure.steps(keys, wanted.role))
        return
    facts = _known(name, FACTS)
    if facts.stage == "default" and not (name in CONGESTION_CONTROLS and "sender" in wanted.role):
        return
    if name in CONGESTION_CONTROLS:
        yield Part("sender", facts.how, lambda: congestion_control(name, keys, host))
    elif name in RECOVERY:
        yield Part("sender", facts.how, lambda: list(RECOVERY[name]))
    elif name == "rto-m":
        yield Part("sender", facts.how, lambda: _timer(keys, wanted))
    elif name == "packet-control":
        yield Part("gateway", facts.how, lambda: _filter(keys, wanted))
    elif name == "split":
        yield Part("gateway", facts.how, lambda: _proxy(keys, wanted, host))
    elif name == "decoupling":
        # `--circuit` says which end this host is.
        yield Part(min(wanted.role), facts.how, lambda: _circuit(wanted))
    else:
        raise _cannot(name, facts)


def congestion_control(name: str, keys: dict[str, str], host: Host) -> list[Step]:
    """Returns the steps that make it the default for new connections; that step is last. Raises
    ApplyError."""
    facts = CONGESTION_CONTROLS[name]
    kernels = KERNELS.get(name)
    if kernels and not keys:
        # A module that is loaded now is not at the next boot.
        if _has_module(host, f"tcp_{kernels}"):
            return [Module(f"tcp_{kernels}", kernels), DefaultControl(kernels)]
        if kernels in available(host):
            return [DefaultControl(kernels)]
    if facts.airtcp != "yes" and "airtcpd" not in facts.how:
        if kernels and keys:
            raise ApplyError(f"Linux's {kernels} has no such setting: leave out {', '.join(keys)}")
        raise _cannot(name, facts, f" This kernel has {', '.join(available(host))}.")
    if host.find("airtcpd") is None:
        raise ApplyError(f"{name} needs airtcpd, which is not on this host: install it (`make field`)")
    loaded = LoadedControl(":".join([name, *(f"{key}={value}" for key, value in keys.items())]))
    marks: list[Step] = [ASK_FOR_ECN] if facts.needs_marks else []
    return [*marks, BpfFileSystem(), loaded, DefaultControl(loaded.kernel_name)]


def _setting(key: str, value: str, host: Host) -> Iterator[Part]:
    facts = SETTINGS[key]
    if key == "ecn":
        yield Part("sender", facts.how, lambda: [ASK_FOR_ECN] if value == "true" else [])
    elif key == "send_buffer":
        yield Part("sender", facts.how, lambda: [_send_buffer(value, host)])
    elif key == "receive_window":
        yield Part("receiver", facts.how, lambda: [_receive_buffer(value, host)])
    else:
        yield Part("receiver", facts.how, lambda: _by_hand(key, facts))


def _send_buffer(size: str, host: Host) -> Sysctl:
    return _buffer(WMEM, "4096 16384 4194304", _in_bytes("send_buffer", size), host)


def _receive_buffer(window: str, host: Host) -> Sysctl:
    """Linux offers half of the buffer as window if tcp_adv_win_scale has its default, 1."""
    return _buffer(RMEM, "4096 131072 6291456", 2 * _in_bytes("receive_window", window), host)


def _buffer(sysctl: str, kernels: str, size: int, host: Host) -> Sysctl:
    """Changes the largest size alone, unless the initial one is larger."""
    least, default, _ = (int(number) for number in (host.sysctl(sysctl) or kernels).split())
    most = max(least, size)
    return Sysctl(sysctl, f"{least} {min(default, most)} {most}")


def _in_bytes(key: str, size: str) -> int:
    found = re.fullmatch(r"([0-9.]+)\s*([A-Za-z]*)", size)
    if found is None or found[2] not in UNITS:
        raise ApplyError(f"{key}={size}: write a size, for example 120kB")
    return round(float(found[1]) * UNITS[found[2]])


def _timer(keys: dict[str, str], wanted: Wanted) -> list[Step]:
    if wanted.cgroup is None:
        raise ApplyError("rto-m applies to the connections of a v2 cgroup: give --cgroup PATH")
    return [BpfFileSystem(), Timer(float(keys.get("m", TIMER_FACTOR)), wanted.cgroup)]


def _filter(keys: dict[str, str], wanted: Wanted) -> list[Step]:
    if wanted.wired is None:
        raise ApplyError("packet-control needs --wired IFACE, the gateway's interface to the fixed hosts")
    options: list[str] = []
    for key, value in keys.items():
        if key == "threshold":
            options += ["--ack-threshold", value]
        elif key in ("ack_filter", "data_filter"):
            options += [f"--no-{key.replace('_', '-')}"] if value == "false" else []
        else:
            raise ApplyError(f"packet-control:{key} is not an option of `airtcpd filter`: attach it manually")
    return [BpfFileSystem(), Filter(wanted.wired, tuple(options))]


def _proxy(keys: dict[str, str], wanted: Wanted, host: Host) -> list[Step]:
    if wanted.wireless is None:
        raise ApplyError("split needs --wireless IFACE, the gateway's interface to the mobile hosts")
    arguments = ["proxy", "run", "--wireless", wanted.wireless]
    needed: list[Step] = []
    for key, value in keys.items():
        if key != "congestion_control":
            raise ApplyError(f"split:{key} has no counterpart here: start `airtcpd proxy run` manually")
        *needed, default = congestion_control(value, {}, host)
        assert isinstance(default, DefaultControl)
        arguments += ["--wireless-cc", default.name]
    return [*needed, Service("proxy", tuple(arguments))]


def _circuit(wanted: Wanted) -> list[Step]:
    if wanted.circuit is None:
        raise ApplyError(
            "a circuit has two ends: give this end's arguments with --circuit, for example "
            "'receive --listen 192.0.2.2:4007 --key-file KEY', on a gateway "
            "'send --to 192.0.2.2:4007 --prefix 10.3.0.0/24 --key-file KEY', "
            "on a host that sends '--to 10.3.0.0/24 --receiver 192.0.2.2:4007 --key-file KEY'"
        )
    words = shlex.split(wanted.circuit)
    program = "circuit" if words[:1] in (["send"], ["receive"]) else "decouple"
    return [Service(program, (program, *words))]


def _queue(wanted: Wanted, facts: Facts) -> list[Step]:
    if wanted.queue != "fq-codel":
        raise ApplyError(f"{wanted.queue} is set by hand, for its thresholds depend on the link: {facts.how}")
    if wanted.wireless is None:
        raise ApplyError("fq-codel needs --wireless IFACE, the interface where the queue builds up")
    return [Qdisc(wanted.wireless, "fq_codel")]


def _by_hand(key: str, facts: Facts) -> list[Step]:
    raise ApplyError(f"{key} must be set manually: {facts.how}")


def _has_module(host: Host, name: str) -> bool:
    """Returns whether there is such a module, loaded or not, rather than a part of the kernel."""
    try:
        shown = host.run("modprobe", "--show-depends", name)
    except ApplyError:
        return False
    return not shown.startswith("builtin")


def _cannot(name: str, facts: Facts, more: str = "") -> ApplyError:
    return ApplyError(
        f"{name} cannot be applied: {facts.how} ({facts.source}). It is {STAGES[facts.stage]}.{more}"
    )


def _known(name: str, facts: dict[str, Facts]) -> Facts:
    _, through, tunnel = name.partition(" through ")
    if through and (found := TUNNELS.get(tunnel.partition("-")[0])):
        raise ApplyError(f"airtcp sets up no tunnel. It is {STAGES[found.stage]}; at both ends: {found.how}")
    if name in QUEUES and facts is not QUEUES:
        raise ApplyError(f"{name} is a queue: write it behind a scheme, as in 'cubic @ {name}'")
    if name not in facts:
        raise ApplyError(f"unknown scheme {name}: see `airtcp schemes`")
    return facts[name]
