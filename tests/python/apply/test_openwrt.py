"""Scripts for OpenWrt: a shell takes them, and they say what UCI is to have."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from airtcp.advise.deployment import Place
from airtcp.apply import ApplyError, Wanted, openwrt_script

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
    asked = run(openwrt_script(Wanted("cubic", "fq-codel", GATEWAY, "eth1"), 20e6), tmp_path)
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
