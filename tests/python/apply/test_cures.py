"""What one host does against a path-MTU black hole."""

from __future__ import annotations

import pytest

from airtcp.advise.deployment import Place
from airtcp.apply import ApplyError, Wanted, make_plan, openwrt_script
from airtcp.apply.cures import home
from airtcp.apply.steps import MssClamp, Sysctl

from .conftest import FakeHost

GATEWAY: frozenset[Place] = frozenset({"gateway"})
RECEIVES: frozenset[Place] = frozenset({"receiver", "gateway"})
OWN = ("input", "output")


@pytest.mark.parametrize(
    ("wanted", "step"),
    [
        (Wanted("mtu-probing"), Sysctl("net.ipv4.tcp_mtu_probing", "1")),
        (Wanted("mss-clamp", role=GATEWAY), MssClamp()),
        (Wanted("mss-clamp:mtu=1400", role=GATEWAY), MssClamp(1400)),
        (Wanted("mss-clamp:mtu=1400"), MssClamp(1400, OWN)),
        (Wanted("mss-clamp:mtu=1280B", role=RECEIVES), MssClamp(1280, ("forward", *OWN))),
    ],
    ids=lambda value: value.name if isinstance(value, Wanted) else "",
)
def test_each_is_one_step(fake: FakeHost, wanted: Wanted, step: MssClamp | Sysctl) -> None:
    plan = make_plan(wanted, fake.host)
    assert plan.steps == [step]
    assert not plan.elsewhere
    assert any("connections are" in limit for limit in plan.limits)


def test_the_length_is_that_of_each_family() -> None:
    """RFC 9293 §3.7.1: the MSS is the MTU less the IP and TCP headers."""
    table = MssClamp(1400).table
    assert "ipv4 tcp flags syn tcp option maxseg size set 1360" in table
    assert "ipv6 tcp flags syn tcp option maxseg size set 1340" in table
    assert "maxseg size set rt mtu" in MssClamp().table


@pytest.mark.parametrize(
    ("scheme", "role", "why"),
    [
        ("mss-clamp:mtu=100", GATEWAY, "576"),
        ("mss-clamp:mtu=1400B9", GATEWAY, "bytes"),
        ("mss-clamp:mss=1400", GATEWAY, "one key"),
        ("mss-clamp", frozenset({"sender", "gateway"}), "airtcp measure"),
        ("mtu-probing:base=1", frozenset({"sender"}), "no key"),
    ],
)
def test_what_cannot_be_is_refused(fake: FakeHost, scheme: str, role: frozenset[Place], why: str) -> None:
    with pytest.raises(ApplyError, match=why):
        make_plan(Wanted(scheme, role=role), fake.host)


def test_a_table_of_others_is_left_alone(fake: FakeHost) -> None:
    fake.host.run("nft", "table inet airtcp-mss { }")
    with pytest.raises(ApplyError, match="nft delete table"):
        make_plan(Wanted("mss-clamp", role=GATEWAY), fake.host)


def test_the_place_of_a_cure_is_its_own() -> None:
    assert (home("mss-clamp:mtu=1400"), home("mtu-probing")) == ("gateway", "sender")
    assert {home(use) for use in ("bbr", "bbr+mss-clamp", "mss-clamp+mtu-probing")} == {None}


def test_on_an_openwrt_router_the_zones_clamp() -> None:
    script = openwrt_script(Wanted("mss-clamp", role=GATEWAY), None)
    assert "mtu_fix=1" in script
    assert "uci commit firewall" in script
    assert "tcp_mtu_probing=1" in openwrt_script(Wanted("mtu-probing"), None)
