"""A sender and a receiver with `airtcpd link` between them.

Hosts are network namespaces without names: the kernel removes one when its first process ends, and that ends
with this one, however this one does.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from airtcp._engine import Scenario
from airtcp.linux.airtcpd import Airtcpd

_NETWORK, _MAC = "10.0.0.", "02:00:00:00:00:0"
FAR = f"{_NETWORK}2"
"""The receiver's address, on every path."""
DEVICE = "port0"
_PRIORITY = 5
"""Real-time, below the emulator's: a program that waits for a processor adds that to its round trips. Without
it irtt was 4 ms late for one packet in twenty."""
_FIRST = "echo; exec cat"
"""The first process says that it is there, and lives until its input is closed."""
_SET_UP = "ip link set lo up; echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6"
"""IPv6 would send packets of its own."""
_DEFAULT = "cubic"
"""Of both hosts, whatever this one's default is: a socket that iperf3 opens with BBR goes on pacing after it
was told to use CUBIC."""
_NEAR, _FAR = "near0", "far0"
_LINK_MTU = 1500


class Host:
    """A network of its own."""

    def __init__(self) -> None:
        self._first = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", _FIRST], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._first.stdout is not None
        if not self._first.stdout.readline():
            raise OSError("no network namespace: run this as root")
        self.run("sh", "-c", _SET_UP)

    @property
    def pid(self) -> int:
        return self._first.pid

    def run(self, *command: str | Path, to: Path | None = None, check: bool = True) -> None:
        """Carries out a command to its end; `to` takes what it prints."""
        with (to or Path("/dev/null")).open("wb") as out:
            subprocess.run(self._within(command), check=check, stdout=out, stderr=subprocess.DEVNULL)

    @contextmanager
    def running(self, *command: str | Path, until: str = "", to: Path | None = None) -> Iterator[None]:
        """Runs a program until the block ends; without `to`, from the moment that it has said `until`."""
        with ExitStack() as stack:
            out = stack.enter_context(to.open("wb")) if to is not None else subprocess.PIPE
            process = stack.enter_context(
                subprocess.Popen(self._within(command), stdout=out, stderr=subprocess.STDOUT)
            )
            try:
                if process.stdout is not None:
                    _await(process.stdout, until, str(command[0]))
                yield
            finally:
                process.send_signal(signal.SIGINT)

    def end(self) -> None:
        self._first.communicate()

    def _within(self, command: tuple[str | Path, ...]) -> list[str | Path]:
        return ["chrt", "--fifo", str(_PRIORITY), "nsenter", f"--net=/proc/{self.pid}/ns/net", *command]


def _await(said: IO[bytes], until: str, name: str) -> None:
    before = ""
    while until.encode() not in (line := said.readline()):
        if not line:
            raise OSError(f"{name} ended at once: {before or 'it said nothing'}")
        before = line.decode("utf-8", "replace").strip()


@dataclass(frozen=True)
class Ends:
    """Both ends of a path."""

    sender: Host
    receiver: Host


@contextmanager
def joined(
    path: Scenario, seed: int, airtcpd: Airtcpd, folder: Path, *, mtu_bytes: int = _LINK_MTU
) -> Iterator[Ends]:
    """Yields two hosts with the path between them; the emulator's report is then in `link.json` of `folder`.

    Packets longer than `mtu_bytes` vanish on the way to the receiver, and nobody says so.
    """
    scenario = folder / "path.toml"
    scenario.write_text(path.to_toml(), encoding="utf-8")
    with ExitStack() as stack:
        sender, receiver, middle = (Host() for _ in range(3))
        for host in (sender, receiver, middle):
            stack.callback(host.end)
        for number, (end, port) in enumerate(((sender, _NEAR), (receiver, _FAR)), 1):
            other = 3 - number
            peer = ["peer", "name", DEVICE, "address", f"{_MAC}{number}", "netns", str(end.pid)]
            middle.run("ip", "link", "add", port, "type", "veth", *peer)
            middle.run("ip", "link", "set", port, "up")
            end.run("ip", "addr", "add", f"{_NETWORK}{number}/24", "dev", DEVICE)
            end.run("ip", "link", "set", DEVICE, "up")
            end.run("ip", "route", "replace", f"{_NETWORK}0/24", "dev", DEVICE, "congctl", _DEFAULT)
            # Nobody asks for it over the path, which would delay the first packet.
            end.run("ip", "neigh", "add", f"{_NETWORK}{other}", "lladdr", f"{_MAC}{other}", "dev", DEVICE)
        middle.run("ip", "link", "set", _FAR, "mtu", str(mtu_bytes))
        link: list[str | Path] = [airtcpd.path, "link", scenario, "--between", _NEAR, _FAR]
        link += ["--seed", str(seed), "--every", "0s", "--json", folder / "link.json"]
        with middle.running(*link, until=" between "):
            yield Ends(sender, receiver)


def lateness_ms(folder: Path) -> float:
    """Returns by how much packets left the emulator late on average, according to its report."""
    report: Any = json.loads((folder / "link.json").read_text(encoding="utf-8"))
    return max(float(way["departures"]["mean_us"]) / 1e3 for way in report["ways"])
