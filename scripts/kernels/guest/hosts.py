"""Three hosts, each a network namespace: a fixed host F, a router R and a mobile host M."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from commands import carries, run, until

MOBILE = "10.9.2.2"
WIRED, WIRELESS = "eth0", "wlan0"
"""The router's interfaces."""


def make() -> None:
    """Makes them; each but the router, and the guest itself, has a server of iperf3."""
    for name in "FRM":
        run("ip", "netns", "add", name)
        run("ip", "link", "set", "lo", "up", inside=name)
        # Else addresses are tentative for a second, which would look like something that is left behind.
        run("sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0", inside=name)
    for device, host, peer, net in ((WIRED, "F", "f0", 1), (WIRELESS, "M", "m0", 2)):
        run("ip", "link", "add", device, "netns", "R", "type", "veth", "peer", "name", peer, "netns", host)
        for where, end, last in (("R", device, 1), (host, peer, 2)):
            run("ip", "address", "add", f"10.9.{net}.{last}/24", "dev", end, inside=where)
            run("ip", "link", "set", end, "up", inside=where)
        run("ip", "route", "add", "default", "via", f"10.9.{net}.1", inside=host)
        # The kernel tells of it later, which would look like a change.
        for where, end in (("R", device), (host, peer)):
            until(partial(_is_up, where, end))
    run("sysctl", "-qw", "net.ipv4.ip_forward=1", inside="R")
    for server in (None, "M"):
        run("iperf3", "-s", "-D", inside=server)
        until(lambda server=server: "5201" in run("ss", "-ltn", inside=server))  # type: ignore[misc]


def _is_up(host: str, device: str) -> bool:
    return " state UP " in run("ip", "-o", "link", "show", device, inside=host)


def transfer(at_least_mbps: float) -> str:
    """Sends from the fixed host to the mobile one."""
    said = run("iperf3", "-c", MOBILE, "-t", "1", "-b", "30M", "-i", "0", "-J", inside="F")
    return carries(said, at_least_mbps)


@contextmanager
def netem(there: str, back: str) -> Iterator[None]:
    """Has the kernel's own emulator, netem, delay what the router and the mobile host send each other."""
    places = (("R", WIRELESS, there), ("M", "m0", back))
    for host, device, options in places:
        run("tc", "qdisc", "add", "dev", device, "root", "netem", *options.split(), inside=host)
    try:
        yield
    finally:
        for host, device, _ in places:
            run("tc", "qdisc", "delete", "dev", device, "root", inside=host)


def slow() -> AbstractContextManager[None]:
    """Has netem send 10 Mbit/s to the mobile host."""
    return netem("rate 10mbit delay 5ms limit 50", "delay 0ms")
