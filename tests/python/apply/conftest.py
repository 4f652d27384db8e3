"""A host in a folder: its /proc/sys, its files, and programs that write down what they are asked."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from airtcp.apply import Host

UNITS = Path(__file__).parents[3] / "packaging/systemd"
SYSCTLS = {
    "net/ipv4/tcp_congestion_control": "cubic",
    "net/ipv4/tcp_available_congestion_control": "reno cubic bbr",
    "net/ipv4/tcp_allowed_congestion_control": "reno cubic",
    "net/ipv4/tcp_ecn": "2",
    "net/ipv4/tcp_recovery": "1",
    "net/ipv4/tcp_sack": "1",
    "net/ipv4/tcp_mtu_probing": "0",
    "net/ipv4/tcp_rmem": "4096\t131072\t6291456",
    "net/ipv4/tcp_wmem": "4096\t16384\t4194304",
    "net/ipv4/ip_forward": "0",
    "net/ipv6/conf/all/forwarding": "0",
}
PROGRAM = '''#!{python}
"""Plays a tool: `state` has what is loaded, attached, enabled."""
import json, os, sys
from pathlib import Path
here = Path({folder!r})
name, words = Path(sys.argv[0]).name, sys.argv[1:]
state = json.loads((here / "state").read_text())
with (here / "log").open("a") as log:
    log.write(" ".join([name, *words]) + "\\n")
listed = here / "root/proc/sys/net/ipv4/tcp_available_congestion_control"
asked = [name, *words]
def save(key, value):
    state[key] = value
    (here / "state").write_text(json.dumps(state))
match asked:
    case ["modprobe", "--show-depends", module] if module in state["builtin"]:
        print(f"builtin {{module}}")
    case ["modprobe", "--show-depends", module] if module in state["modules"]:
        print(f"insmod /lib/modules/{{module}}.ko")
    case ["modprobe", "--show-depends", module]:
        sys.exit(f"modprobe: FATAL: Module {{module}} not found")
    case ["modprobe", "-r", module]:
        kept = [each for each in listed.read_text().split() if f"tcp_{{each}}" != module]
        listed.write_text(" ".join(kept))
    case ["modprobe", module]:
        listed.write_text(f"{{listed.read_text()}} {{module.removeprefix('tcp_')}}")
    case ["airtcpd", "cc", "load", scheme]:
        listed.write_text(f"{{listed.read_text()}} {{scheme.split(':')[0].replace('-', '_')}}")
    case ["airtcpd", "cc", "unload", control]:
        listed.write_text(" ".join(each for each in listed.read_text().split() if each != control))
    case ["airtcpd", "rto", "status", "--json"]:
        print(json.dumps(state["rto"]))
    case ["airtcpd", "rto", "off"]:
        save("rto", None)
    case ["airtcpd", "rto", *_]:
        save("rto", {{}})
    case ["airtcpd", "filter", "list", "--json"]:
        print(json.dumps([{{"interface": each}} for each in state["filters"]]))
    case ["airtcpd", "filter", "attach", interface, *_]:
        save("filters", [*state["filters"], interface])
    case ["airtcpd", "filter", "detach", interface]:
        save("filters", [each for each in state["filters"] if each != interface])
    case ["tc", "-j", "qdisc", "show", "dev", _]:
        print(json.dumps([{{"root": True, **state["qdisc"]}}]))
    case ["tc", "qdisc", "replace", *_] if state["lacks_qdiscs"]:
        sys.exit("Error: Specified qdisc kind is unknown.")
    case ["tc", "qdisc", "replace", "dev", _, "root", kind]:
        save("qdisc", {{"kind": kind, "handle": "8001:"}})
    case ["tc", "qdisc", "del", *_]:
        save("qdisc", {{"kind": "noqueue", "handle": "0:"}})
    case ["nft", "list", "table", *_]:
        print(state["nft"] or sys.exit("Error: No such file or directory"))
    case ["nft", "delete", "table", *_]:
        save("nft", None)
    case ["nft", table]:
        save("nft", table)
    case ["systemctl", "is-enabled", unit]:
        print("enabled" if unit in state["units"] else "disabled")
        sys.exit(unit not in state["units"])
    case ["systemctl", "enable", unit]:
        save("units", [*state["units"], unit])
    case ["systemctl", "disable", *_, unit]:
        save("units", [each for each in state["units"] if each != unit])
'''


class FakeHost:
    """`host` is what the code sees; the rest is for the test."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.root = folder / "root"
        for key, value in SYSCTLS.items():
            path = self.root / "proc/sys" / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(value)
        (self.root / "proc/self").mkdir(parents=True)
        (self.root / "proc/self/mounts").write_text("bpf /sys/fs/bpf bpf rw 0 0\n")
        shutil.copytree(UNITS, self.root / "lib/systemd/system")
        installed = self.root / "usr/bin/airtcpd"
        installed.parent.mkdir(parents=True)
        installed.touch(mode=0o755)
        (folder / "state").write_text(
            '{"modules": ["tcp_westwood", "tcp_bbr"], "builtin": ["tcp_cubic"], "rto": null, "filters": [],'
            ' "units": [], "lacks_qdiscs": false, "nft": null,'
            ' "qdisc": {"kind": "noqueue", "handle": "0:"}}'
        )
        programs = folder / "bin"
        programs.mkdir()
        for name in ("airtcpd", "modprobe", "tc", "systemctl", "ip", "nft"):
            program = programs / name
            program.write_text(PROGRAM.format(python=sys.executable, folder=str(folder)))
            program.chmod(0o755)
        monkeypatch.setenv("PATH", str(programs))
        self.host = Host(self.root, programs / "airtcpd")

    def picture(self) -> dict[str, str]:
        """All that could have changed."""
        files = [path for path in self.root.rglob("*") if path.is_file()]
        found = {str(path.relative_to(self.root)): " ".join(path.read_text().split()) for path in files}
        return {**found, "state": (self.folder / "state").read_text(), "folders": str(self._folders())}

    def set(self, key: str, value: str) -> None:
        (self.root / "proc/sys" / key.replace(".", "/")).write_text(value)

    def get(self, key: str) -> str:
        return (self.root / "proc/sys" / key.replace(".", "/")).read_text().strip()

    @property
    def log(self) -> list[str]:
        path = self.folder / "log"
        return path.read_text().splitlines() if path.exists() else []

    def _folders(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_dir())


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    """This host's own new connections are what they are: the folder's say what its sysctl says."""
    found = FakeHost(tmp_path, monkeypatch)
    monkeypatch.setattr(
        "airtcp.apply.steps.sysctl.control_of_a_new_connection",
        lambda: found.get("net.ipv4.tcp_congestion_control"),
    )
    return found
