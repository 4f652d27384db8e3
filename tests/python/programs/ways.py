"""The ways that a program's data may take: over a lossy link, and there through what airtcp offers.

The client is behind the link, the server on the other side of the base station:

    client eth0 ── (ether: the emulated link) ── air0 base wd0 ── eth0 server
"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from airtcp.linux.airtcpd import Airtcpd

from .hosts import Host

CLIENT, SERVER = "10.1.0.2", "10.2.0.2"
LINK = """
name = "lossy"
[[link]]
name = "air"
rate = "20Mbit/s"
delay = "5ms"
queue = { packets = 100 }
loss = { packet = "0.5%" }
"""
PATIENCE_S = 60


def eventually(is_so: Callable[[], bool], what: Callable[[], str]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, what()
        time.sleep(0.02)


class Daemon:
    """An `airtcpd` that ends with the test."""

    def __init__(self, airtcpd: Airtcpd, host: Host, log: Path, arguments: str) -> None:
        self._airtcpd = airtcpd
        self._name = arguments.split(maxsplit=1)[0]
        self._log = log
        command = host.beside(airtcpd.path.resolve(), *arguments.split())
        with log.open("w") as file:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "INT", *command], cwd=log.parent, stdout=file, stderr=file
            )

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def counters(self) -> dict[str, int]:
        """Empty as long as it has not started."""
        for status in json.loads(self._airtcpd.answer(self._name, "status", "--json")):
            if status["pid"] == self._process.pid:
                counters: dict[str, int] = status["counters"]
                return counters
        assert self._process.poll() is None, self.log
        return {}

    def awaits(self, counter: str, value: int) -> None:
        eventually(
            lambda: self.counters().get(counter) == value,
            lambda: f"{counter} is not {value}: {self.counters()}\n{self.log}",
        )

    def end(self) -> None:
        self._process.send_signal(signal.SIGINT)
        assert self._process.wait(PATIENCE_S) == 0, self.log


class Way:
    """The client's and the server's host, and what carries the connections between them, if anything does."""

    def __init__(self, name: str, client: Host, server: Host, carrier: Daemon | None) -> None:
        self.name = name
        self.client = client
        self.server = server
        self.carrier = carrier


@contextmanager
def way(name: str, airtcpd: Airtcpd, root: Path, shared: Path) -> Iterator[Way]:
    """Sets it up for programs below `root`. What the hosts' programs and airtcpd leave is in `shared`."""
    place = shared / "airtcpd"
    place.mkdir()
    client, server = (Host(root, shared) for _ in range(2))
    base, ether = (Host(Path("/"), shared) for _ in range(2))
    daemons: list[Daemon] = []

    def start(host: Host, arguments: str) -> Daemon:
        daemons.append(Daemon(airtcpd, host, place / f"{len(daemons)}.log", arguments))
        return daemons[-1]

    try:
        _connect(client, ether, base, server)
        (place / "link.toml").write_text(LINK)
        link = start(ether, "link link.toml --between toward-base toward-client --seed 1 --every 0")
        eventually(lambda: "between" in link.log, lambda: link.log)
        carrier = None
        match name:
            case "proxy":
                carrier = start(base, "proxy run --wireless air0")
            case "own":
                carrier = start(base, "proxy run --wireless air0 --wireless-stack own")
            case "decouple":
                airtcpd.answer("circuit", "key", place / "circuit.key")
                start(server, f"circuit receive --listen {SERVER}:4007 --key-file circuit.key")
                carrier = start(
                    client, f"decouple --to 10.2.0.0/24 --receiver {SERVER}:4007 --key-file circuit.key"
                )
                carrier.awaits("circuit_open", 1)
        if carrier:
            carrier.awaits("connections", 0)
        yield Way(name, client, server, carrier)
    finally:
        for host in (client, server):
            host.end_programs()
        for daemon in reversed(daemons):
            daemon.end()
        for host in (client, server, base, ether):
            host.end()


def _connect(client: Host, ether: Host, base: Host, server: Host) -> None:
    ether.set_up(
        f"ip link add toward-client type veth peer name eth0 netns {client.pid}",
        f"ip link add toward-base type veth peer name air0 netns {base.pid}",
        "ip link set toward-client up",
        "ip link set toward-base up",
    )
    base.set_up(
        f"ip link add wd0 type veth peer name eth0 netns {server.pid}",
        "ip address add 10.1.0.1/24 dev air0",
        "ip address add 10.2.0.1/24 dev wd0",
        "ip link set air0 up",
        "ip link set wd0 up",
        "sysctl -q net.ipv4.ip_forward=1",
    )
    for host, address, router in ((client, CLIENT, "10.1.0.1"), (server, SERVER, "10.2.0.1")):
        host.set_up(
            f"ip address add {address}/24 dev eth0",
            "ip link set eth0 up",
            f"ip route add default via {router}",
        )
