"""Apply and undo on this host's kernel, in namespaces of their own: needs root and `airtcpd`."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from airtcp.linux.airtcpd import Airtcpd

pytestmark = pytest.mark.live
HERE = Path(__file__).parent
OTHERS = Path("/run/airtcp/test.lock")
"""What is loaded is the whole kernel's: the tests of airtcpd take the same lock."""


@pytest.fixture(autouse=True)
def alone(airtcpd: Airtcpd) -> Iterator[None]:  # noqa: ARG001 where it may not run, nothing is locked
    OTHERS.parent.mkdir(exist_ok=True)
    with OTHERS.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_killed_anywhere_it_is_undone(airtcpd: Airtcpd, tmp_path: Path) -> None:
    """Sysctls, queues, pins, rules, mounts and files are as they were after a kill −9 at each step."""
    done = _in_namespaces(sys.executable, HERE / "killed.py", airtcpd.path, tmp_path)
    places = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(places) == 30, done.stderr
    for place in places:
        assert place["undo"] == "0", (place, done.stderr)
        assert not place["changed"], place


def test_a_new_connection_uses_what_was_applied(airtcpd: Airtcpd, tmp_path: Path) -> None:
    script = f"""
        set -e
        ip link set lo up
        sysctl -qw net.ipv4.tcp_congestion_control=reno
        sysctl -a 2>/dev/null | grep ^net > {tmp_path}/before
        airtcp() {{ {Path(sys.executable).with_name("airtcp")} "$@"; }}
        airtcp apply 'concord @ fq-codel' --yes
        airtcp apply bbr --yes && exit 1
        airtcp undo
        sysctl -a 2>/dev/null | grep ^net > {tmp_path}/after
        airtcp undo
    """
    state = {**os.environ, "AIRTCP_STATE": str(tmp_path / "state"), "AIRTCPD": str(airtcpd.path)}
    done = _in_namespaces("bash", "-c", script, env=state)
    assert done.returncode == 0, done.stderr
    assert "sysctl -w net.ipv4.tcp_congestion_control=concord  (now reno)" in done.stdout
    assert "a new connection uses concord" in done.stdout
    assert "Also needed, on the gateway: tc qdisc replace" in done.stdout
    assert "run `airtcp undo` first" in done.stderr
    assert done.stdout.endswith("The previous state is restored.\nNothing is applied to this host.\n")
    assert (tmp_path / "after").read_text() == (tmp_path / "before").read_text()


def _in_namespaces(
    *command: str | Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    unshared = ["unshare", "--net", "--mount", "--propagation", "private", *command]
    return subprocess.run(unshared, capture_output=True, text=True, check=False, env=env)


PATH = [
    "--set",
    "wireless.rate=10Mbit/s",
    "--set",
    "wireless.delay=10ms",
    "--set",
    "wireless.loss={ packet = 0.02 }",
]


def test_try_settles_it_on_the_path(airtcpd: Airtcpd, tmp_path: Path) -> None:
    """Behind an emulated path with a server beyond it: the simulator has foretold what is measured."""
    if shutil.which("iperf3") is None:
        pytest.skip("skipped: no iperf3")
    scenario = tmp_path / "path.toml"
    scenario.write_text(
        '[[link]]\nname = "wireless"\nrate = "10Mbit/s"\ndelay = "10ms"\nloss = { packet = 0.02 }\n'
        "queue = { packets = 100 }\n"
    )
    inside = f"""
        sysctl -qw net.ipv4.tcp_congestion_control=reno
        {Path(sys.executable).with_name("airtcp")} try $AIRTCP_LINK_FAR --schemes reno,concord --transfer 3 \
            --blocks 12 --scenario {scenario} --json {tmp_path}/found.json
    """
    script = f"""
        ip link set lo up
        iperf3 -s -D -I {tmp_path}/server
        {airtcpd.path} link --shell {" ".join(map(shlex.quote, PATH))} --quiet --every 0 -- \
            sh -c {shlex.quote(inside)}
        status=$?
        kill $(cat {tmp_path}/server)
        exit $status
    """
    state = {**os.environ, "AIRTCP_STATE": str(tmp_path / "state"), "AIRTCPD": str(airtcpd.path)}
    done = _in_namespaces("bash", "-c", script, env=state)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    best, other = found["rows"]
    assert best["scheme"] == "concord", done.stdout
    assert other["standing"] == "behind", done.stdout
    assert 0.7 < best["reached"]["mean"] / best["forecast"]["mean"] < 1.3
