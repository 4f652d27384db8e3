"""Probes over a known path, as ping and irtt would write them, are read back as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from airtcp_studies.calibration.probes import irtt_json, ping_log, probe

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


def test_a_transfer_beside_probes_makes_them_late() -> None:
    path = Scenario.parse(PATH).vary({"link.path.loss": {"packet": 0}, "link.path.queue.packets": 200})
    found = probe(path, count=200, load={"start": "20s"})
    idle, loaded = found.rtt_s[:100], found.rtt_s[110:]
    assert np.nanmax(idle) < 0.125
    assert np.nanmedian(loaded) > 0.2
