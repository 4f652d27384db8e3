"""Plans this host's steps, and lists what they do not reach."""

from __future__ import annotations

from dataclasses import dataclass, field

from airtcp.apply.here import Here
from airtcp.apply.host import Host
from airtcp.apply.parts import parts
from airtcp.apply.persistence import persistent
from airtcp.apply.steps import DefaultControl, MssClamp, Service, State, Step, Sysctl, Timer
from airtcp.apply.wanted import Wanted

FORWARDS = ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding")

DIRECTIONS = {
    "decouple": "It helps only what this host sends. For the other direction, run it at the other end too.",
    "proxy": "It helps what this gateway sends over the lossy link. What comes back over it has its senders "
    "at the other end, and gains no more than shorter round trips.",
}
"""What each service helps, and what it does not."""


@dataclass(frozen=True)
class Change:
    """A step and the state it finds."""

    step: Step
    before: State

    @property
    def words(self) -> str:
        """What the step does, and the current state."""
        now = self.step.now(self.before)
        first, *rest = self.step.words.splitlines()
        return "\n".join([f"{first}  ({now})" if now else first, *rest])


@dataclass
class Plan:
    """What will be done, and what will not."""

    what: str
    changes: list[Change] = field(default_factory=list)
    already: list[str] = field(default_factory=list)
    """What is already in place."""
    elsewhere: list[str] = field(default_factory=list)
    """What other hosts need."""
    limits: list[str] = field(default_factory=list)
    """What the plan does not reach."""

    @property
    def steps(self) -> list[Step]:
        return [change.step for change in self.changes]


def make_plan(wanted: Wanted, host: Host) -> Plan:
    """Makes a plan without changing anything. Raises ApplyError for steps that are impossible or
    irreversible."""
    found = Plan(wanted.name)
    steps: dict[Step, None] = {}
    for part in parts(wanted, Here(host, wanted)):
        if part.place in wanted.role:
            steps.update(dict.fromkeys(part.done()))
        else:
            found.elsewhere.append(f"{part.place}: {part.how}")
    found.already = [step.words for step in steps if step.holds(host)]
    todo = [step for step in steps if not step.holds(host)]
    found.limits = _limits(todo, host)
    if wanted.persistent:
        found.limits += [
            f"At boot the timer waits until {step.cgroup} exists: a slice of systemd does, a folder made by "
            "hand does not come back."
            for step in steps
            if isinstance(step, Timer)
        ]
        todo += [step for step in persistent(list(steps), host) if not step.holds(host)]
    found.changes = [Change(step, step.look(host)) for step in todo]
    return found


def _limits(steps: list[Step], host: Host) -> list[str]:
    of_hosts = [step for step in steps if isinstance(step, DefaultControl | Sysctl | Timer)]
    defaults = [step for step in steps if isinstance(step, DefaultControl)]
    said = []
    if of_hosts:
        said.append(
            "Open connections are not affected. Other network namespaces, such as those of containers, have "
            "their own settings."
        )
    if of_hosts and any(host.sysctl(key) == "1" for key in FORWARDS):
        said.append(
            "This host forwards packets. Forwarded connections have other senders and are not affected: only "
            "those that begin or end on this host are."
        )
    if defaults and host.find("ip") and "congctl" in host.run("ip", "route", "show", "table", "all"):
        said.append("Routes with their own `congctl` (`ip route show table all`) keep it.")
    services = {step.name for step in steps if isinstance(step, Service)}
    if services or any(isinstance(step, MssClamp) for step in steps):
        said.append("Only new connections are affected.")
    said += [DIRECTIONS[name] for name in sorted(services & DIRECTIONS.keys())]
    return said
