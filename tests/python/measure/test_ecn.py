"""Whether a path keeps and sets ECN's marks: from what comes back, over the loopback, through a router."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import airtcp
from airtcp.measure import ecn
from airtcp.measure.choosing import ecn_path
from airtcp.measure.ecn import CE, ECT_0, HARM, NOT_ECT, said_of_a_full_path, said_of_marks
from airtcp.measure.sockets import Host

LOOPBACK = {4: Host("l", socket.AF_INET, "127.0.0.1"), 6: Host("l", socket.AF_INET6, "::1")}
CODEPOINTS = st.sampled_from([NOT_ECT, 0b01, ECT_0, CE])


@given(st.lists(st.tuples(st.sampled_from([NOT_ECT, CE]), st.none() | CODEPOINTS)))
def test_marks_survive_only_where_one_was_seen_to(came: list[tuple[int, int | None]]) -> None:
    said = said_of_marks(came)
    assert ("survive" in said) == ((CE, CE) in came)
    assert (HARM in said) == (bool(came) and (CE, CE) not in came)
    assert bool(said) == bool(came)


@given(st.integers(0, 100), st.integers(0, 100))
def test_a_full_path_marks_only_if_a_mark_was_seen(marked: int, others: int) -> None:
    said = said_of_a_full_path(marked, marked + others)
    assert ("its bottleneck marks" in said) == (marked > 0)
    # A handful of answers says nothing.
    assert (HARM in said) == (marked == 0 and others >= ecn.LEAST)


@pytest.mark.parametrize("version", [4, 6])
def test_the_loopback_keeps_marks_and_sets_none(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ecn, "INTERVAL_S", 0.0)
    path = ecn_path(LOOPBACK[version])
    if path is None:
        pytest.skip("skipped: no ICMP sockets here")
    try:
        said = path.on_purpose()
        if not said:
            pytest.skip(f"skipped: no loopback of IPv{version} here")
        assert "survive" in said
        assert path.keeps_marks
        for _ in range(ecn.LEAST):
            path.beside()
        assert "none of" in path.marked()
        # The next load begins anew.
        assert path.marked() == ""
    finally:
        path.close()


NAMES = SENDER, ROUTER, RECEIVER = tuple(f"airtcp-ecn-{os.getpid()}-{name}" for name in "srd")
PROBE = """
import socket
from airtcp.measure import ecn
from airtcp.measure.ecn import EcnPath
from airtcp.measure.sockets import Host
ecn.INTERVAL_S = 0.0
path = EcnPath(Host("far", socket.AF_INET, "10.98.2.2"))
print(path.on_purpose())
for _ in range(ecn.LEAST):
    path.beside()
print(path.marked())
"""


def within(name: str, *command: str) -> str:
    whole = ["ip", "netns", "exec", name, *command]
    env = {**os.environ, "PYTHONPATH": str(Path(airtcp.__file__).parents[1])}
    return subprocess.run(whole, capture_output=True, text=True, check=True, env=env).stdout


@pytest.fixture
def router() -> Iterator[None]:
    """Sender – router – receiver; the receiver is 10.98.2.2."""
    try:
        for name in NAMES:
            subprocess.run(["ip", "netns", "add", name], check=True)
        for end, number in ((SENDER, 1), (RECEIVER, 2)):
            veth = ["type", "veth", "peer", "name", "e", "netns", end]
            within(ROUTER, "ip", "link", "add", f"r{number}", *veth)
            within(ROUTER, "ip", "addr", "add", f"10.98.{number}.1/24", "dev", f"r{number}")
            within(ROUTER, "ip", "link", "set", f"r{number}", "up")
            within(end, "ip", "addr", "add", f"10.98.{number}.2/24", "dev", "e")
            within(end, "ip", "link", "set", "e", "up")
            within(end, "ip", "route", "add", "default", "via", f"10.98.{number}.1")
        within(ROUTER, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        yield
    finally:
        for name in NAMES:
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)


@pytest.mark.live
@pytest.mark.skipif(os.geteuid() != 0, reason="skipped: needs root")
@pytest.mark.skipif(not all(map(shutil.which, ("ip", "nft"))), reason="skipped: no ip or nft")
@pytest.mark.usefixtures("router")
def test_routers_that_mark_clear_or_drop_are_told_apart() -> None:
    rules = {
        "accept": ("marks survive", "none of"),
        "ip daddr 10.98.2.2 ip ecn ect0 ip ecn set ce": ("marks survive", "its bottleneck marks"),
        "ip daddr 10.98.2.2 ip ecn set not-ect": ("comes back cleared", "none of"),
        "ip ecn ce drop": ("get no reply, others do", "none of"),
    }
    for rule, expected in rules.items():
        chain = f"chain forward {{ type filter hook forward priority 0; {rule}; }}"
        within(ROUTER, "nft", f"table ip marks {{ {chain}; }}")
        lines = within(SENDER, sys.executable, "-c", PROBE).splitlines()
        assert [text in line for text, line in zip(expected, lines, strict=True)] == [True, True], lines
        within(ROUTER, "nft", "delete table ip marks")
