"""Ways to carry TCP over the link: what runs on the gateways and the server, and the server's own control."""

from __future__ import annotations

import contextlib
import fcntl
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import ground
from ground import FAR, NEAR, ON_LINK, SERVER, running, within

OTHERS = Path("/run/airtcp/test.lock")
PATIENCE_S = 20.0
Way = Callable[[Path], contextlib.AbstractContextManager[None]]


@dataclass(frozen=True)
class Rival:
    """A way, and the congestion control that the server's own TCP has on it.

    `carries_answers`: also connections that clients open.
    """

    says: str
    control: str
    way: Way
    carries_answers: bool = True


@contextlib.contextmanager
def nothing(_airtcpd: Path) -> Iterator[None]:
    yield


@contextlib.contextmanager
def loaded(airtcpd: Path) -> Iterator[None]:
    """Concord in the kernel. Loaded controllers are the whole host's: tests take the same lock."""
    OTHERS.parent.mkdir(exist_ok=True)
    with OTHERS.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([airtcpd, "cc", "load", "concord"], check=True, capture_output=True)
        try:
            yield
        finally:
            subprocess.run([airtcpd, "cc", "unload", "concord"], check=True, capture_output=True)


def proxies(hosts: list[str], *options: str) -> Way:
    """A split connection at these gateways."""

    @contextlib.contextmanager
    def way(airtcpd: Path) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            for host in hosts:
                run = ("proxy", "run", "--wireless", ON_LINK, "--drain", "0s", *options)
                proxy = stack.enter_context(running(within(host, airtcpd, *run), "proxy"))
                await_service(airtcpd, "proxy", proxy.pid)
            yield

    return way


def with_concord(inner: Way) -> Way:
    @contextlib.contextmanager
    def way(airtcpd: Path) -> Iterator[None]:
        with loaded(airtcpd), inner(airtcpd):
            yield

    return way


def decoupled(*options: str) -> Way:
    """The server's connections leave through a circuit that ends at the near gateway."""

    @contextlib.contextmanager
    def way(airtcpd: Path) -> Iterator[None]:
        with TemporaryDirectory() as folder:
            key = Path(folder, "key")
            subprocess.run([airtcpd, "circuit", "key", key], check=True, capture_output=True)
            keyed = ("--key-file", key)
            here = f"{ground.NEAR_ON_LINK}:4007"
            receive = within(
                NEAR, airtcpd, "circuit", "receive", "--listen", here, "--prefix", ground.CLIENT_NET, *keyed
            )
            send = within(
                SERVER, airtcpd, "decouple", "--to", ground.CLIENT_NET, "--receiver", here, *keyed, *options
            )
            with running(receive, "circuit"), running(send, "decouple") as sender:
                await_service(airtcpd, "decouple", sender.pid)
                yield

    return way


def await_service(airtcpd: Path, daemon: str, pid: int) -> None:
    """Waits until the daemon serves. `nsenter` becomes the daemon, and so has its process ID."""
    until = monotonic() + PATIENCE_S
    while monotonic() < until:
        said = subprocess.run(
            [airtcpd, daemon, "status", "--json"], capture_output=True, text=True, check=False
        )
        if said.returncode == 0 and pid in [each["pid"] for each in json.loads(said.stdout)]:
            return
    raise TimeoutError(f"airtcpd {daemon} does not serve after {PATIENCE_S:.0f} s")


OWN = ("--wireless-stack", "own", "--wireless-scheme")

WAYS: dict[str, Rival] = {
    "cubic": Rival("the kernel's cubic, from end to end", "cubic", nothing),
    "bbr": Rival("the kernel's bbr, from end to end", "bbr", nothing),
    "concord": Rival("airtcp's concord in the kernel, from end to end", "concord", loaded),
    "proxy": Rival(
        "`airtcpd proxy`, concord", "cubic", with_concord(proxies([FAR], "--wireless-cc", "concord"))
    ),
    "own": Rival("`airtcpd proxy`, own stack, concord", "cubic", proxies([FAR], *OWN, "concord")),
    "fast": Rival(
        "the same at both ends, `--fast-open`", "cubic", proxies([NEAR, FAR], *OWN, "concord", "--fast-open")
    ),
    "copies": Rival(
        "the same, and `tail_copies=2`, `temporal_sharing=true`",
        "cubic",
        proxies([NEAR, FAR], *OWN, "concord:tail_copies=2:temporal_sharing=true", "--fast-open"),
    ),
    "decouple": Rival(
        "`airtcpd decouple`, bbr, for what the server itself opens",
        "cubic",
        decoupled("--control", "bbr"),
        carries_answers=False,
    ),
}
