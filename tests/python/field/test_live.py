"""A comparison on the kernel of this host: needs root and `airtcpd`."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

import airtcp
from airtcp.linux.airtcpd import Airtcpd
from airtcp.linux.forms import forms

pytestmark = pytest.mark.live
LINK = {"name": "radio", "rate": "10Mbit/s", "delay": "10ms", "queue": {"packets": 50}}


def test_the_kernel_does_what_the_simulator_says(airtcpd: Airtcpd, tmp_path: Path) -> None:
    """On a path without loss there is little to differ in."""
    scenario = airtcp.Scenario.build(
        name="clean", duration="2s", seeds=1, schemes=["westwood-vt", "reno+snoop"], link=[LINK]
    )
    found = airtcp.compare(scenario, on="both")
    assert not found.failures
    assert found.linux.host is not None
    assert found.linux.host.kernel == os.uname().release
    assert found.linux.host.airtcpd == airtcpd.version
    assert [each.scheme for each in found.linux.left_out] == ["reno+snoop"]
    assert found.ratio["scheme"].to_list() == ["westwood-vt", "cubic", "reno", "bbr"]
    for row in found.ratio.iter_rows(named=True):
        assert 0.7 < row["ratio"] < 1.3, row
    for scheme, series in found.linux.first_series.items():
        # It saw the window and the stream grow.
        assert series.flows["cwnd_bytes"].n_unique() > 1, scheme
        assert series.deliveries.filter(pl.col("received_bytes") > 1_000_000).height, scheme
    assert found.report(tmp_path / "both.html").stat().st_size > 100_000


def test_what_airtcpd_is_said_to_deploy_it_can_run(airtcpd: Airtcpd) -> None:
    from airtcp.advise.deployment import CONGESTION_CONTROLS, PARTS  # noqa: PLC0415 only this needs it

    own = [name for name, facts in CONGESTION_CONTROLS.items() if facts.airtcp == "yes"]
    parts = [f"cubic+{name}" for name, facts in PARTS.items() if facts.airtcp == "yes"]
    scenario = airtcp.Scenario.build(schemes=[*own, *parts], link=[LINK])
    assert forms(airtcpd, scenario).left_out == ()
