"""Makes steps persist across reboots, with files and units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
from airtcp.apply.steps import (
    DefaultControl,
    File,
    Filter,
    LoadedControl,
    Module,
    Qdisc,
    Service,
    Step,
    Sysctl,
    Timer,
    Unit,
)

HEAD = "# By `airtcp advise --apply`; `airtcp undo` reverts it.\n"
SYSCTLS = "/etc/sysctl.d/90-airtcp.conf"
MODULES = "/etc/modules-load.d/airtcp.conf"
CIRCUIT = "applied"
"""Instance name of our circuit's unit."""


def persistent(steps: Sequence[Step], host: Host) -> list[Step]:
    """Returns the persistent steps. Raises ApplyError if a unit is not installed."""
    found = list(_steps(steps))
    for step in found:
        if isinstance(step, Unit) and not _is_installed(step, found, host):
            raise ApplyError(
                f"{step.name} is not installed: install airtcpd, or copy it from packaging/systemd"
            )
    return found


def _steps(steps: Sequence[Step]) -> Iterator[Step]:
    loaded = [step for step in steps if isinstance(step, LoadedControl)]
    lines: list[str] = []
    for step in steps:
        if isinstance(step, Module):
            yield File(MODULES, f"{HEAD}{step.name}\n")
        elif isinstance(step, LoadedControl):
            yield from _unit("airtcpd-cc", CC_OPTIONS=f"{step.scheme} --default")
        elif isinstance(step, Timer):
            yield from _unit("airtcpd-rto", RTO_OPTIONS=f"--factor {step.factor:g} --cgroup {step.cgroup}")
        elif isinstance(step, Filter):
            yield from _unit(
                "airtcpd-filter", FILTER_INTERFACE=step.interface, FILTER_OPTIONS=" ".join(step.options)
            )
        elif isinstance(step, Service):
            yield from _service(step)
        elif isinstance(step, Qdisc):
            yield from _qdisc(step)
        elif isinstance(step, Sysctl):
            lines.append(f"{step.key} = {step.value}\n")
        elif isinstance(step, DefaultControl) and not loaded:
            # Sysctls are set before airtcpd loads its controls, so its unit sets the default.
            lines.append(f"{step.KEY} = {step.name}\n")
    if lines:
        yield File(SYSCTLS, HEAD + "".join(lines))


def _unit(name: str, instance: str = "", **variables: str) -> Iterator[Step]:
    file = f"{name}-{instance}" if instance else name
    text = "".join(f'{variable}="{value}"\n' for variable, value in variables.items())
    yield File(f"/etc/default/{file}", HEAD + text)
    yield Unit(f"{name}@{instance}.service" if instance else f"{name}.service")


def _service(step: Service) -> Iterator[Step]:
    if step.name == "proxy":
        _, _, *options = step.arguments
        yield from _unit("airtcpd-proxy", PROXY_OPTIONS=" ".join(options))
    else:
        _, *options = step.arguments
        yield from _unit(
            f"airtcpd-{step.name}", CIRCUIT, **{f"{step.name.upper()}_OPTIONS": " ".join(options)}
        )


def _qdisc(step: Qdisc) -> Iterator[Step]:
    name = f"airtcp-qdisc-{step.interface}.service"
    device = f"sys-subsystem-net-devices-{step.interface}.device"
    yield File(
        f"/etc/systemd/system/{name}",
        f"{HEAD}[Unit]\nDescription=airtcp: the queue of {step.interface}\n"
        f"After={device}\nBindsTo={device}\n\n"
        f"[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/sbin/{step.words}\n"
        f"ExecStop=-/sbin/tc qdisc del dev {step.interface} root\n\n[Install]\nWantedBy={device}\n",
    )
    yield Unit(name)


def _is_installed(unit: Unit, steps: Sequence[Step], host: Host) -> bool:
    if any(isinstance(step, File) and step.place.endswith(f"/{unit.name}") for step in steps):
        return True
    template = unit.name.replace(f"@{CIRCUIT}.", "@.")
    places = ("/etc/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/system")
    return any(host.path(f"{place}/{template}").exists() for place in places)
