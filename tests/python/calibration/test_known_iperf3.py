"""The generator writes what iperf3 writes: its reader finds what the simulator did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from airtcp_studies.calibration.iperf3 import iperf3_tcp
from airtcp_studies.calibration.iperf3_udp import iperf3_udp

from airtcp import Scenario
from airtcp.fit.detect import read

PATH = """
profile = "linux"
[[link]]
name = "path"
rate = "5Mbit/s"
delay = "50ms"
queue = { packets = 208 }
"""


@pytest.mark.parametrize("streams", [1, 3])
def test_a_transfer_is_read_back(streams: int, tmp_path: Path) -> None:
    """25 s of CUBIC behind a queue of 500 ms: 4.7 Mbit/s arrive, what is written runs ahead."""
    path = Scenario.parse(PATH)
    text = iperf3_tcp(path, duration_s=25.0, streams=streams)
    assert text == iperf3_tcp(path, duration_s=25.0, streams=streams)
    file = tmp_path / "result.json"
    file.write_text(text)
    found = read(file)
    assert found.format == "iperf3 (TCP)"
    assert len(found.throughput[0].rate_bps) == 25
    assert found.transfer is not None
    assert found.transfer.retransmissions > 0
    assert found.transfer.congestion_control == "cubic"
    assert found.round_trips is not None
    assert 0.1 < found.round_trips.rtt_s.min() < found.round_trips.rtt_s.max() < 0.62
    end = json.loads(text)["end"]
    assert end["sum_received"]["bits_per_second"] == pytest.approx(4.75e6, rel=0.03)
    # A send buffer runs ahead of what has arrived, by more than a window.
    ahead = end["sum_sent"]["bytes"] - end["sum_received"]["bytes"]
    assert ahead > 250_000
    assert json.loads(text)["intervals"][0]["sum"]["bits_per_second"] > 7e6


@pytest.mark.parametrize(("sent_bps", "lost"), [(2e6, 0.0), (10e6, 0.5)])
def test_datagrams_are_read_back(sent_bps: float, lost: float, tmp_path: Path) -> None:
    """What the link does not carry overflows, after the queue of 208 packets has filled."""
    file = tmp_path / "udp.json"
    file.write_text(iperf3_udp(Scenario.parse(PATH), rate_bps=sent_bps, duration_s=20.0))
    found = read(file)
    assert found.format == "iperf3 (UDP)"
    (count,) = found.loss_counts
    assert count.packets == round(20 * sent_bps / 8 / 1448)
    assert count.lost / count.packets == pytest.approx(lost, abs=0.03)
