"""Four hosts in a row, each a network namespace: client, near gateway, far gateway, server."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

CLIENT, NEAR, LINK, FAR, SERVER = (f"rivals-{os.getpid()}-{name}" for name in ("c", "n", "l", "f", "s"))
SERVER_ADDRESS = "10.9.3.2"
CLIENT_NET = "10.9.1.0/24"
NEAR_ON_LINK = "10.9.2.1"
ON_LINK = "air0"


def within(host: str, *command: str | Path) -> list[str]:
    """The command, in a host's network namespace."""
    return ["nsenter", f"--net=/run/netns/{host}", *map(str, command)]


def ip(*arguments: str, host: str | None = None) -> None:
    command = ["ip", *(["-n", host] if host else []), *arguments]
    subprocess.run(command, check=True, capture_output=True, text=True)


@contextlib.contextmanager
def hosts(airtcpd: Path, scenario: str, seed: int) -> Iterator[None]:
    """The hosts, while the link between them is emulated."""
    made: list[str] = []
    with TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        stack.callback(remove, made)
        for host in (CLIENT, NEAR, LINK, FAR, SERVER):
            ip("netns", "add", host)
            made.append(host)
            ip("link", "set", "lo", "up", host=host)
        join((CLIENT, "eth0", "10.9.1.2/24"), (NEAR, "lan0", "10.9.1.1/24"))
        join((NEAR, ON_LINK, f"{NEAR_ON_LINK}/24"), (LINK, "near0", None))
        join((LINK, "far0", None), (FAR, ON_LINK, "10.9.2.2/24"))
        join((FAR, "lan0", "10.9.3.1/24"), (SERVER, "eth0", f"{SERVER_ADDRESS}/24"))
        ip("route", "add", "default", "via", "10.9.1.1", host=CLIENT)
        ip("route", "add", "default", "via", "10.9.3.1", host=SERVER)
        ip("route", "add", "10.9.3.0/24", "via", "10.9.2.2", host=NEAR)
        ip("route", "add", CLIENT_NET, "via", NEAR_ON_LINK, host=FAR)
        for gateway in (NEAR, FAR):
            set_sysctl(gateway, "net.ipv4.conf.all.forwarding", "1")
        path = Path(folder, "link.toml")
        path.write_text(scenario)
        link = ("link", path, "--between", "near0", "far0", "--seed", str(seed), "--quiet")
        stack.enter_context(running(within(LINK, airtcpd, *link), LINK))
        reach(CLIENT)
        yield


def remove(made: list[str]) -> None:
    for host in made:
        ip("netns", "del", host)


def join(*ends: tuple[str, str, str | None]) -> None:
    (one, its, _), (other, others, _) = ends
    ip("link", "add", its, "netns", one, "type", "veth", "peer", "name", others, "netns", other)
    for host, name, address in ends:
        if address:
            ip("addr", "add", address, "dev", name, host=host)
        ip("link", "set", name, "up", host=host)


def set_sysctl(host: str, name: str, value: str) -> None:
    subprocess.run(within(host, "sysctl", "-qw", f"{name}={value}"), check=True)


def reach(host: str) -> None:
    """Waits until the server is in reach."""
    for _ in range(50):
        ping = within(host, "ping", "-c", "1", "-W", "1", SERVER_ADDRESS)
        if subprocess.run(ping, capture_output=True, check=False).returncode == 0:
            return
    sys.exit("the server behind the emulated link cannot be reached")


@contextlib.contextmanager
def running(command: list[str], name: str) -> Iterator[subprocess.Popen[str]]:
    """A program, which is ended afterwards. Its last words are shown if it ends by itself."""
    with (
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as program,
    ):
        try:
            yield program
        finally:
            by_itself = program.poll()
            if by_itself is None:
                program.terminate()
            _, words = program.communicate()
            if by_itself:
                print(f"{name}: {words.strip().splitlines()[-1:]}", file=sys.stderr)
