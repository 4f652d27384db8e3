"""One short measurement behind an emulated path: needs root and `airtcpd`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import COMMAND

from airtcp.fit import fit
from airtcp.linux.airtcpd import Airtcpd

pytestmark = pytest.mark.live
TRUTH = """
name = "truth"
[[link]]
name = "radio"
rate = "8Mbit/s"
delay = "15ms"
loss = { packet = "10%" }
queue = { packets = 40 }
[link.reverse]
rate = "4Mbit/s"
delay = "25ms"
loss = {}
"""
PORT, IPERF3_PORT, TOKEN = 7137, 5337, "a token of the live test"


@pytest.mark.skipif(shutil.which("iperf3") is None, reason="skipped: no iperf3 here")
def test_each_way_of_an_emulated_path_is_found(airtcpd: Airtcpd, tmp_path: Path) -> None:
    scenario, logs = tmp_path / "truth.toml", tmp_path / "logs"
    scenario.write_text(TRUTH)
    environment = {**os.environ, "AIRTCP_TOKEN": TOKEN}
    serve = [*COMMAND, "measure", "--serve", "--listen", "0.0.0.0", "--port", str(PORT)]
    measure = f'"$0" -m airtcp measure "$AIRTCP_LINK_FAR" --for 12s --port {PORT} --no-advise --out {logs} '
    measure += f"--iperf3 {IPERF3_PORT} --load 2s"
    link = [str(airtcpd.path), "link", "--quiet", "--drain", "0s", "--shell", str(scenario)]
    link += ["--", "sh", "-c", measure, sys.executable]
    iperf3 = ["iperf3", "--server", "--port", str(IPERF3_PORT)]
    with (
        subprocess.Popen(serve, env=environment, stdout=subprocess.DEVNULL) as server,
        subprocess.Popen(iperf3, stdout=subprocess.DEVNULL) as other,
    ):
        time.sleep(2)
        try:
            done = subprocess.run(
                link, env=environment, capture_output=True, text=True, timeout=300, check=False
            )
        finally:
            server.terminate()
            other.terminate()
    assert done.returncode == 0, done.stdout + done.stderr
    # Where other work delays the trains so much that they disagree, the rate is taken for one that varies.
    recorded = {"100.64.0.1.there.txt", "100.64.0.1.back.txt"}
    assert {file.name for file in logs.iterdir()} - recorded == {
        "probes.csv", "trains.csv", "dense.csv", "loaded-there.csv", "loaded-back.csv", "iperf3-there.json",
        "iperf3-back.json", "ss.txt", "path.toml",
    }  # fmt: skip
    fitted = fit([*logs.glob("*.csv"), *logs.glob("*.json")])
    rates = {way: rate.what.estimate_bps for way, rate in fitted._evidence.link_rate.items()}
    assert rates == {"forward": pytest.approx(8e6, rel=0.1), "reverse": pytest.approx(4e6, rel=0.1)}
    assert fitted.delay is not None
    assert fitted.delay.base_s.best == pytest.approx(0.0402, abs=0.003)
    assert fitted._estimates.ways["forward"].base_s.best == pytest.approx(0.0151, abs=0.002)
    losses = fitted._estimates.losses
    # Of some thousand probes one test in ten thousand is outside of these.
    assert losses["forward"].source.name == "dense.csv"
    assert losses["forward"].loss.share.best == pytest.approx(0.1, abs=0.025)
    assert losses["reverse"].loss.lost <= 1
    assert fitted._evidence.queue_rooms["forward"].what.packets == pytest.approx(40, abs=4)
