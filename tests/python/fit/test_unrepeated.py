"""A fit says of every measurement whether its transfer was repeated, and if not, why."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from airtcp_studies.calibration.iperf3 import iperf3_tcp

from airtcp import Scenario, fit
from airtcp.fit.closure.unrepeated import why_unrepeated
from airtcp.fit.detect import read
from airtcp.fit.fitting import fit_measurements
from airtcp.fit.measurement import Measurement

START = "No measured transfer was repeated on the fitted path: "


@pytest.fixture(scope="module")
def transfer(tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    place = tmp_path_factory.mktemp("iperf3") / "result.json"
    link = '[[link]]\nname = "path"\nrate = "5Mbit/s"\ndelay = "20ms"\n'
    place.write_text(iperf3_tcp(Scenario.parse(link), duration_s=4.0))
    return read(place)


def test_without_a_transfer_nothing_is_repeated(tmp_path: Path) -> None:
    lines = [f"64 bytes from 192.0.2.1: icmp_seq={n} ttl=60 time=40.{n % 7} ms" for n in range(1, 30)]
    place = tmp_path / "ping.log"
    place.write_text("PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n" + "\n".join(lines) + "\n")
    assert fit(place).summary()[1] == f"{START}no file has one."


def test_a_speed_test_does_not_say_when_it_did_what(tmp_path: Path) -> None:
    result = {"type": "result", "ping": {"latency": 20.0, "jitter": 1.0}, "packetLoss": 0}
    result |= {
        way: {"bandwidth": 1_250_000, "bytes": 15_000_000, "elapsed": 12_000}
        for way in ("download", "upload")
    }
    place = tmp_path / "ookla.json"
    place.write_text(json.dumps(result))
    line = next(line for line in fit(place).summary() if line.startswith(START))
    assert line == f"{START}ookla.json says what a transfer reached, not when it did what."


def test_each_gap_is_named(transfer: Measurement) -> None:
    known = transfer.transfer
    assert known is not None
    for changed, why in (
        (replace(known, course=None), "does not say when its transfer did what, or it paused"),
        (replace(known, arrived=None), "does not say how much arrived"),
        (replace(known, direction="reverse"), "is of a transfer against the direction that is fitted"),
    ):
        measured = replace(transfer, transfer=changed)
        assert why_unrepeated([measured]) == f"{START}result.json {why}."
        if changed.direction == "forward":
            assert any(line.startswith(START) for line in fit_measurements([measured]).summary())
