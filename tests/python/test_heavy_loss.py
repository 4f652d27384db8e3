"""What `scenarios/heavy-loss.toml` is there to show."""

from __future__ import annotations

from pathlib import Path

import pytest

import airtcp

SCENARIO = Path(__file__).parents[2] / "scenarios/heavy-loss.toml"


def test_who_tells_corruption_from_congestion_has_most_of_the_bound() -> None:
    found = airtcp.compare(SCENARIO, seeds=2)
    shares = {row.scheme: row.share_of_bound or 0.0 for row in found.summaries}
    goodputs_bps = {row.scheme: row.goodput.mean for row in found.summaries}
    assert goodputs_bps["concord"] / shares["concord"] == pytest.approx(16.4e6, rel=0.01)
    assert shares["cubic"] < 0.05
    assert shares["concord"] > 0.7
