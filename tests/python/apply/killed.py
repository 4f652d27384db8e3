"""Run in namespaces of its own: applies a step of each kind, is killed everywhere in turn, and undoes.

usage: killed.py AIRTCPD FOLDER. Prints a line of JSON for each place: what differs from before.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from airtcp.apply import Host, apply, journal, undo
from airtcp.apply.journal import Journal
from airtcp.apply.steps import (
    DefaultControl,
    File,
    Filter,
    LoadedControl,
    Qdisc,
    Service,
    Step,
    Sysctl,
    Timer,
    Unit,
)

UNIT = "airtcpd-cc.service"
UNITS = Path("/etc/systemd/system")
SHOWN = (
    "tc qdisc show",
    "ip rule",
    "ip route show table all",
    "nft list ruleset",
    "cat /proc/self/mounts",
    "find /sys/fs/bpf/airtcp /etc/systemd/system",
    "find /run/airtcp -type f -not -name *lock",
)


def main(airtcpd: Path, folder: Path) -> None:
    """Each step is killed before it, within it and after it; then undo finds what is on disk."""
    steps = _prepared(folder)
    host = Host(airtcpd=airtcpd)
    before = _picture(airtcpd, folder)
    for number, step in enumerate(steps):
        for when in ("begun", "within", "done"):
            _in_a_child(lambda number=number, when=when: _killed(steps, host, folder, number, when))
            begun = _in_a_child(lambda: _undone(host, folder))
            after = _picture(airtcpd, folder)
            changed = {key: [before[key], after[key]] for key in before if before[key] != after.get(key)}
            print(
                json.dumps({"kind": step.KIND, "when": when, "undo": begun, "changed": changed}), flush=True
            )


def _prepared(folder: Path) -> list[Step]:
    units = folder / "units"
    units.mkdir()
    (units / UNIT).write_text("[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n")
    for command in (
        f"mount --bind {units} {UNITS}",
        "sysctl -qw net.ipv6.conf.default.disable_ipv6=1",
        "ip link set lo up",
        "ip link add v0 type veth peer name v1",
        "ip link set v0 up",
        "ip link set v1 up",
        "sysctl -qw net.ipv4.tcp_congestion_control=reno",
    ):
        subprocess.run(command.split(), check=True)
    (folder / "kept.conf").write_text("another's\n")
    cgroup = next(
        line.split()[1]
        for line in Path("/proc/mounts").read_text().splitlines()
        if line.split()[2] == "cgroup2"
    )
    return [
        LoadedControl("concord"),
        DefaultControl("concord"),
        Sysctl("net.ipv4.tcp_ecn", "1"),
        Timer(12, cgroup),
        Filter("v0"),
        Qdisc("v0", "pfifo"),
        File(str(folder / "new" / "90-airtcp.conf"), "ours\n"),
        File(str(folder / "kept.conf"), "ours\n"),
        Unit(UNIT),
        Service("proxy", ("proxy", "run", "--wireless", "v0")),
    ]


def _killed(steps: list[Step], host: Host, folder: Path, number: int, when: str) -> None:
    class Killed(Journal):
        def begin(self, at: int, step: Step, before: dict[str, Any]) -> None:
            super().begin(at, step, before)
            if (at, when) == (number, "begun"):
                os.kill(os.getpid(), signal.SIGKILL)
            if (at, when) == (number, "within"):
                _kill_at_the_next_program()

        def done(self, at: int) -> None:
            if at == number:
                os.kill(os.getpid(), signal.SIGKILL)
            super().done(at)

    with journal(folder / "state") as kept:
        apply("all", steps, host, Killed(kept.path, kept.lock), lambda _: None)


def _kill_at_the_next_program() -> None:
    """It goes on alone, and undo has to wait for it."""

    class Killing(subprocess.Popen[Any]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            os.kill(os.getpid(), signal.SIGKILL)

    subprocess.Popen = Killing  # type: ignore[misc]


def _undone(host: Host, folder: Path) -> None:
    with journal(folder / "state") as kept:
        left = undo(host, kept, lambda _: None)
    assert not left, left


def _in_a_child(work: Any) -> str:
    """How it ended."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:
            print(f"{error!r}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _picture(airtcpd: Path, folder: Path) -> dict[str, str]:
    return dict(_views(airtcpd, folder))


def _views(airtcpd: Path, folder: Path) -> Iterator[tuple[str, str]]:
    for command in (*SHOWN, f"{airtcpd} cc list", f"{airtcpd} filter list", f"{airtcpd} rto status"):
        shown = subprocess.run(command.split(), capture_output=True, text=True, check=False).stdout
        # The order in which a folder's files are found is not its state.
        yield command, "\n".join(sorted(shown.splitlines())) if command.startswith("find ") else shown
    told = subprocess.run(["sysctl", "-a"], capture_output=True, text=True, check=False).stdout
    yield "sysctl -a", "\n".join(line for line in told.splitlines() if line.startswith("net."))
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    yield "files", json.dumps({str(path): path.read_text() for path in files})
    yield "modes", json.dumps([oct(path.stat().st_mode) for path in files])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
