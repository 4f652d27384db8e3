"""Probes over a known path, as ping and irtt would write them, are read back as they were."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from airtcp_studies.calibration.flent import flent_json
from airtcp_studies.calibration.probe_texts import fping_text, mtr_raw
from airtcp_studies.calibration.probes import Probes, irtt_json, ping_log, probe

from airtcp import Scenario
from airtcp.fit.detect import read

PATH = """
[[link]]
name = "path"
rate = "5Mbit/s"
delay = "50ms"
loss = { packet = 0.02 }
[link.jitter]
distribution = "uniform"
low = "0ms"
high = "20ms"
overtaking = false
[link.reverse]
jitter = { distribution = "constant", mean = "0ms" }
"""


def test_probes_are_read_back(tmp_path: Path) -> None:
    path = Scenario.parse(PATH)
    found = probe(path, 3, count=400)
    assert np.array_equal(found.rtt_s, probe(path, 3, count=400).rtt_s, equal_nan=True)
    answered = np.isfinite(found.rtt_s)
    assert 0.01 < np.mean(~answered) < 0.08
    assert np.nanmin(found.back_s) == pytest.approx(np.nanmax(found.back_s), abs=1e-6)
    log, result = tmp_path / "ping.log", tmp_path / "irtt.json"
    log.write_text(ping_log(found))
    result.write_text(irtt_json(found))
    for file, step in ((log, 1e-3), (result, 1e-8)):
        measured = read(file)
        assert measured.round_trips is not None
        assert measured.round_trips.rtt_s == pytest.approx(found.rtt_s[answered], abs=step)
    assert measured.fates[0].lost.sum() <= (~answered).sum()


@pytest.mark.parametrize(("write", "step_s"), [(fping_text, 1e-3), (mtr_raw, 1e-6)])
def test_fping_and_mtr_are_read_back(write: Callable[[Probes], str], step_s: float, tmp_path: Path) -> None:
    found = probe(Scenario.parse(PATH), 4, count=200)
    file = tmp_path / "probes.txt"
    file.write_text(write(found))
    measured = read(file)
    assert measured.round_trips is not None
    answered = np.isfinite(found.rtt_s)
    assert measured.round_trips.rtt_s == pytest.approx(found.rtt_s[answered], abs=step_s)
    assert np.array_equal(measured.fates[0].lost, ~answered)


def test_flent_is_read_back(tmp_path: Path) -> None:
    """A queue of half a second stands beside the ping, and most of 5 Mbit/s arrive."""
    link = {"name": "path", "rate": "5Mbit/s", "delay": "50ms", "queue": {"packets": 200}}
    path = Scenario.build(profile="linux", link=[link])
    text = flent_json(path, transfer_s=10.0)
    assert text == flent_json(path, transfer_s=10.0)
    file = tmp_path / "upload.flent"
    file.write_text(text)
    found = read(file)
    assert found.format == "Flent"
    assert found.round_trips is not None
    assert found.round_trips.least_s == pytest.approx(0.1, abs=1e-3)
    assert found.round_trips.rtt_s.max() > 0.3
    assert found.throughput[0].rate_bps.mean() == pytest.approx(4.7e6, rel=0.1)


def test_a_transfer_beside_probes_makes_them_late() -> None:
    path = Scenario.parse(PATH).vary({"link.path.loss": {"packet": 0}, "link.path.queue.packets": 200})
    found = probe(path, count=200, load={"start": "20s"})
    idle, loaded = found.rtt_s[:100], found.rtt_s[110:]
    assert np.nanmax(idle) < 0.125
    assert np.nanmedian(loaded) > 0.2
