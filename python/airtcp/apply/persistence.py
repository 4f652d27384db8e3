"""Makes steps persist across reboots, with files and units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from airtcp.apply.boot import check_sysctls, check_unit, device_unit
from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
from airtcp.apply.steps import (
    DefaultControl,
    File,
    Filter,
    LoadedControl,
    Module,
    MssClamp,
    Qdisc,
    Service,
    Step,
    Sysctl,
    Timer,
    Unit,
)
from airtcp.apply.steps.clamp import TABLE

HEAD = "# By `airtcp advise --apply`; `airtcp undo` reverts it.\n"
SYSCTLS = "/etc/sysctl.d/90-airtcp.conf"
MODULES = "/etc/modules-load.d/airtcp.conf"
CIRCUIT = "applied"
"""Instance name of our circuit's unit."""


def persistent(steps: Sequence[Step], host: Host) -> list[Step]:
    """Returns the persistent steps for all that is wanted, also for what already holds: a boot starts from
    the disk, not from what is loaded now. Raises ApplyError if a boot would not find what they say."""
    found = list(_steps(steps, host))
    files = {step.place: step for step in found if isinstance(step, File)}
    for step in found:
        if isinstance(step, Unit):
            _check_unit(step, files, host)
        elif isinstance(step, File) and step.place == SYSCTLS:
            check_sysctls(host, step.place, step.text)
    return found


def _steps(steps: Sequence[Step], host: Host) -> Iterator[Step]:
    modules: list[str] = []
    lines: list[str] = []
    loaded = [step for step in steps if isinstance(step, LoadedControl)]
    default = next((step.name for step in steps if isinstance(step, DefaultControl)), None)
    if loaded:
        yield from _unit("airtcpd-cc", CC_OPTIONS=_cc_options(loaded, default))
    for step in steps:
        if isinstance(step, Module):
            modules.append(f"{step.name}\n")
        elif isinstance(step, Timer):
            yield from _unit("airtcpd-rto", RTO_OPTIONS=f"--factor {step.factor:g} --cgroup {step.cgroup}")
        elif isinstance(step, Filter):
            yield from _unit(
                "airtcpd-filter", FILTER_INTERFACE=step.interface, FILTER_OPTIONS=" ".join(step.options)
            )
        elif isinstance(step, Service):
            yield from _service(step)
        elif isinstance(step, Qdisc):
            yield from _qdisc(step, host)
        elif isinstance(step, MssClamp):
            yield from _clamp(step, host)
        elif isinstance(step, Sysctl):
            lines.append(f"{step.key} = {step.value}\n")
        elif isinstance(step, DefaultControl) and step.name not in _names(loaded):
            # Sysctls are set before airtcpd loads its controls, so its unit sets the default.
            lines.append(f"{step.KEY} = {step.name}\n")
    if modules:
        yield File(MODULES, HEAD + "".join(dict.fromkeys(modules)))
    if lines:
        yield File(SYSCTLS, HEAD + "".join(lines))


def _cc_options(loaded: Sequence[LoadedControl], default: str | None) -> str:
    """The unit loads all of them, or one and makes it the default. Raises ApplyError."""
    schemes = [step.scheme for step in loaded]
    if default not in _names(loaded):
        return " ".join(schemes)
    if len(loaded) > 1:
        raise ApplyError(
            "airtcpd-cc.service loads either one control as the default or several, and "
            f"{' and '.join(schemes)} are wanted: apply them without --persistent, and write a unit for the "
            "second"
        )
    return f"{schemes[0]} --default"


def _names(loaded: Sequence[LoadedControl]) -> list[str]:
    return [step.kernel_name for step in loaded]


def _check_unit(unit: Unit, files: Mapping[str, File], host: Host) -> None:
    """Raises ApplyError."""
    if unit.place not in files:
        check_unit(host, unit.name)
    if unit.holds(host) and not files[unit.options].holds(host):
        raise ApplyError(f"{unit.name} is already enabled, with its own options: disable it first")


def _unit(name: str, instance: str = "", **variables: str) -> Iterator[Step]:
    file = f"/etc/default/{f'{name}-{instance}' if instance else name}"
    text = "".join(f'{variable}="{value}"\n' for variable, value in variables.items())
    yield File(file, HEAD + text)
    yield Unit(f"{name}@{instance}.service" if instance else f"{name}.service", file)


def _service(step: Service) -> Iterator[Step]:
    if step.name == "proxy":
        _, _, *options = step.arguments
        yield from _unit("airtcpd-proxy", PROXY_OPTIONS=" ".join(options))
    else:
        _, *options = step.arguments
        yield from _unit(
            f"airtcpd-{step.name}", CIRCUIT, **{f"{step.name.upper()}_OPTIONS": " ".join(options)}
        )


def _qdisc(step: Qdisc, host: Host) -> Iterator[Step]:
    device = device_unit(step.interface)
    tc = host.find("tc") or "/sbin/tc"
    yield from _own_unit(
        f"airtcp-qdisc-{step.interface}.service",
        f"Description=airtcp: the queue of {step.interface}\nAfter={device}\nBindsTo={device}",
        start=f"{tc} {step.words.removeprefix('tc ')}",
        stop=f"{tc} qdisc del dev {step.interface} root",
        wanted_by=device,
    )


def _clamp(step: MssClamp, host: Host) -> Iterator[Step]:
    nft = host.find("nft") or "/usr/sbin/nft"
    yield from _own_unit(
        "airtcp-mss-clamp.service",
        "Description=airtcp: TCP's MSS, clamped\nAfter=nftables.service",
        start=f"{nft} '{step.table}'",
        stop=f"{nft} delete table inet {TABLE}",
        wanted_by="multi-user.target",
    )


def _own_unit(name: str, about: str, *, start: str, stop: str, wanted_by: str) -> Iterator[Step]:
    """A unit that we write ourselves, which runs a command at its start and one at its end."""
    unit = Unit(name, f"/etc/systemd/system/{name}")
    yield File(
        unit.place,
        f"{HEAD}[Unit]\n{about}\n\n"
        f"[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart={start}\nExecStop=-{stop}\n\n"
        f"[Install]\nWantedBy={wanted_by}\n",
    )
    yield unit
