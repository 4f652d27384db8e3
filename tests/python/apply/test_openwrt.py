"""Scripts for OpenWrt: a shell takes them, and they say what UCI is to have."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airtcp.advise.deployment import FACTS, SETTINGS, Place
from airtcp.apply import ApplyError, Host, Wanted, openwrt_script
from airtcp.apply.cures import CURES
from airtcp.apply.here import Here
from airtcp.apply.openwrt import OpenWrt
from airtcp.apply.parts import parts
from airtcp.apply.wanted import ROLES

GATEWAY: frozenset[Place] = frozenset({"gateway"})
STUB = '#!/bin/sh\necho "$(basename "$0") $*" >> "$LOG"\n'


def run(script: str, folder: Path) -> list[str]:
    """What it asks of the router's programs, where all of them are there."""
    for place in ("opkg", "uci", "sysctl", "sqm", "airtcpd"):
        program = folder / place
        program.write_text(STUB)
        program.chmod(0o755)
    moved = script.replace("/etc/init.d/", f"{folder}/").replace("/usr/sbin/", f"{folder}/")
    moved = moved.replace("/etc/sysctl.d/", f"{folder}/")
    told = {**os.environ, "LOG": str(folder / "log"), "PATH": f"{folder}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-c", moved], check=True, env=told)
    return (folder / "log").read_text().splitlines()


def test_a_split_proxy(tmp_path: Path) -> None:
    wanted = Wanted("cubic+split:congestion_control=bbr", role=GATEWAY, wireless="wlan0")
    asked = run(openwrt_script(wanted, None), tmp_path)
    assert asked[1] == "opkg install nftables kmod-nft-tproxy kmod-nft-socket kmod-tcp-bbr"
    assert "uci set airtcpd.airtcp_proxy.options=--wireless wlan0 --wireless-cc bbr" in asked
    assert asked[-1] == "airtcpd restart"


def test_a_shaper_is_slower_than_the_link(tmp_path: Path) -> None:
    asked = run(openwrt_script(Wanted("cubic", "fq-codel", role=GATEWAY, wireless="eth1"), 20e6), tmp_path)
    assert "uci set sqm.airtcp.upload=19000" in asked
    assert "uci set sqm.airtcp.interface=eth1" in asked


def test_a_sender(tmp_path: Path) -> None:
    assert run(openwrt_script(Wanted("bbr"), None), tmp_path)[1] == "opkg install kmod-tcp-bbr"
    assert (tmp_path / "90-airtcp.conf").read_text() == "net.ipv4.tcp_congestion_control=bbr\n"
    assert "'concord --default'" in openwrt_script(Wanted("concord"), None)


def test_what_others_need_is_said() -> None:
    script = openwrt_script(Wanted("bbr", role=GATEWAY), None)
    assert "--role sender" in script
    assert "Nothing to do on this gateway" in script


@pytest.mark.parametrize("scheme", ["bbr3", "cubic+snoop", "cubic+rto-m", "nonsense"])
def test_what_openwrt_cannot_have_is_refused(scheme: str) -> None:
    with pytest.raises(ApplyError):
        openwrt_script(Wanted(scheme), None)


def test_no_key_is_dropped(tmp_path: Path) -> None:
    wanted = Wanted("cubic+packet-control:ack_filter=false:threshold=3", role=GATEWAY)
    asked = run(openwrt_script(wanted, None), tmp_path)
    assert "uci set airtcpd.airtcp_filter.options=--no-ack-filter --ack-threshold 3" in asked
    with pytest.raises(ApplyError, match="receive_window must be set manually"):
        openwrt_script(Wanted("cubic:receive_window=1MB", role=frozenset({"receiver"})), None)


def test_sysctls_stand_once_in_their_file_however_often_the_script_runs(tmp_path: Path) -> None:
    script = openwrt_script(Wanted("spectcp:ecn=true+newreno"), None)
    run(script, tmp_path)
    run(script, tmp_path)
    lines = (tmp_path / "90-airtcp.conf").read_text().splitlines()
    assert sorted(lines) == ["net.ipv4.tcp_ecn=1", "net.ipv4.tcp_recovery=0", "net.ipv4.tcp_sack=0"]


@st.composite
def schemes(draw: st.DrawFn) -> str:
    names = draw(st.lists(st.sampled_from([*FACTS, *CURES, "nonsense"]), min_size=1, max_size=4))
    settings = draw(st.lists(st.sampled_from([*SETTINGS]), max_size=2))
    return "+".join(names) + "".join(f":{key}=1" for key in settings)


@given(schemes(), st.sampled_from([None, "fq-codel", "red-ecn", "red"]), st.sampled_from(ROLES))
def test_every_platform_takes_a_scheme_apart_alike(scheme: str, queue: str | None, role: Place) -> None:
    """What differs is how a part is done, not which there are and whose they are."""
    wanted = Wanted(scheme, queue, role=frozenset({role}))
    found: list[object] = []
    for platform in (Here(Host(), wanted), OpenWrt(wanted, None)):
        try:
            found.append([(part.place, part.how) for part in parts(wanted, platform)])
        except ApplyError as error:
            found.append(str(error))
    assert found[0] == found[1]
