"""A path-MTU black hole between namespaces: it is measured, said, and cured. Needs root, nft and iperf3."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import COMMAND

from airtcp.fit import NothingArrives, fit

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(os.geteuid() != 0, reason="skipped: needs root"),
    pytest.mark.skipif(
        not all(map(shutil.which, ("ip", "nft", "iperf3"))), reason="skipped: no ip, nft or iperf3"
    ),
]
MTU = 1400
SENDER, ROUTER, RECEIVER = (f"airtcp-hole-{os.getpid()}-{name}" for name in "srd")
FAR = "10.99.2.2"
HOLE = f"type filter hook forward priority 0; ip length > {MTU} drop;"


def within(name: str, *command: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    state = {**os.environ, "AIRTCP_STATE": f"/run/{name}"}
    whole = ["ip", "netns", "exec", name, *map(str, command)]
    return subprocess.run(whole, capture_output=True, text=True, check=check, env=state)


@pytest.fixture
def server() -> Iterator[None]:
    """Sender – router – receiver, where the router drops what is longer than MTU in both directions, and says
    nothing; the receiver runs iperf3."""
    names = (SENDER, ROUTER, RECEIVER)
    try:
        for name in names:
            subprocess.run(["ip", "netns", "add", name], check=True)
            within(name, "ip", "link", "set", "lo", "up")
        for end, number in ((SENDER, 1), (RECEIVER, 2)):
            veth = ["type", "veth", "peer", "name", "e", "netns", end]
            within(ROUTER, "ip", "link", "add", f"r{number}", *veth)
            within(ROUTER, "ip", "addr", "add", f"10.99.{number}.1/24", "dev", f"r{number}")
            within(ROUTER, "ip", "link", "set", f"r{number}", "up")
            within(end, "ip", "addr", "add", f"10.99.{number}.2/24", "dev", "e")
            # Whole packets, as a card would send them.
            within(end, "ip", "link", "set", "e", "up", "gso_max_segs", "1", "gso_max_size", "1500")
            within(end, "ip", "route", "add", "default", "via", f"10.99.{number}.1")
        within(ROUTER, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        within(ROUTER, "nft", f"table ip hole {{ chain forward {{ {HOLE} }}; }}")
        command = ["ip", "netns", "exec", RECEIVER, "iperf3", "--server", "--forceflush"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as iperf3:
            assert iperf3.stdout is not None
            while "listening" not in iperf3.stdout.readline():
                pass
            yield
            iperf3.terminate()
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)


@pytest.mark.usefixtures("server")
def test_a_hole_is_measured_and_cured(tmp_path: Path) -> None:
    assert transfer(tmp_path / "before.json", "--time", "3") == 0
    with pytest.raises(NothingArrives) as found:
        fit(tmp_path / "before.json")
    assert found.value.holes[0].direction == "forward"

    logs = tmp_path / "logs"
    measured = within(SENDER, *COMMAND, "measure", FAR, "--for", "5s", "--no-advise", "--out", logs).stdout
    assert f"path MTU {MTU} bytes: longer ones vanish" in measured
    assert "A path-MTU black hole" in measured
    (hole,) = fit(sorted(logs.glob("*.csv"))).holes
    assert (hole.passes_bytes, hole.vanishes_bytes) == (MTU, MTU + 1)

    for name, cure in ((ROUTER, ("mss-clamp:mtu=1400", "--role", "gateway")), (SENDER, ("mtu-probing",))):
        within(name, *COMMAND, "apply", *cure, "--yes")
        # The sender probes after some timeouts in a row.
        assert transfer(tmp_path / "after.json", "--bytes", "1M") > 0, cure
        within(name, *COMMAND, "undo")
        assert transfer(tmp_path / "again.json", "--time", "3") == 0, cure


def transfer(result: Path, *until: str) -> int:
    """Returns the bytes that arrived."""
    done = within(SENDER, "iperf3", "--json", "--client", FAR, *until, check=False)
    result.write_text(done.stdout)
    return int(json.loads(done.stdout)["end"]["sum_received"]["bytes"])
