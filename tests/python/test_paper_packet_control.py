"""Paper 001: Scenario III's claims, and the variations that its differing rows are explained by."""

from __future__ import annotations

import pytest
from airtcp_studies.frame import Context, Result
from airtcp_studies.pages.plots import figure_of
from airtcp_studies.papers.packet_control.path import LOSS, NONE, SEGMENT_BYTES, STEADY, TABLE_1, jitter
from airtcp_studies.papers.packet_control.sequence import duplicates_of
from airtcp_studies.papers.packet_control.timeout import BEGIN_S, FILTERS, LONG_DELAY, STACKS, WITHOUT, p3
from airtcp_studies.papers.packet_control.variants import VARIANTS, what_was_tried
from airtcp_studies.papers.packet_control.variation import rises
from hypothesis import given
from hypothesis import strategies as st

from airtcp.facts.series import Series


@pytest.fixture(scope="module")
def spurious() -> Result:
    return p3.measure(Context(seeds=1))


def test_with_packet_control_tcp_recovers_sooner_and_carries_more(spurious: Result) -> None:
    judged = [row for row in spurious.rows if row.verdict != "info"]
    assert [row.verdict for row in judged[:3]] == ["holds"] * 3
    # Every threshold with every answer to a timeout, but for the one that is judged.
    assert all(len(row.tried) == len(STACKS) * (len(FILTERS) - 1) - 1 for row in judged[1:3])
    assert any(tried.holds is False for tried in judged[1].tried)
    assert WITHOUT in FILTERS


def test_figure_3_is_read_from_the_sequence() -> None:
    """As many duplicate ACKs as there are retransmissions, one per packet of the link's rate."""
    runs = Context(seeds=1).run(STEADY, [NONE], LONG_DELAY, series_interval_s=0)
    found = duplicates_of(runs.series(NONE))
    again = runs.of(NONE)[0]["flows"][0]["retransmissions_spurious"]
    assert found.last_s == pytest.approx((again - 1) * 1040 * 8 / 250e3, abs=1e-3)
    assert found.number == max(*duplicate_offsets(runs.series(NONE))) // SEGMENT_BYTES - 1
    assert found.pause_s > 0.5


def duplicate_offsets(series: Series) -> list[int]:
    return series.events.filter(series.events["kind"] == "duplicate-ack")["offset_bytes"].to_list()


@given(st.lists(st.floats(-1e6, 1e6)))
def test_rises_is_sorted(values: list[float]) -> None:
    assert rises(values) == (values == sorted(values))


def test_a_timeout_resends_two_segments_as_in_figure_3() -> None:
    for scheme, resent in ((NONE, 2), ("reno", 1)):
        series = Context(seeds=1).run(STEADY, [scheme], LONG_DELAY, series_interval_s=0).series(scheme)
        resends = series.events.filter(series.events["kind"] != "loss")
        assert resends.filter(resends["time_s"] == resends["time_s"].min()).height == resent, resends


def test_the_sequence_plots_of_the_page_begin_where_something_happens(spurious: Result) -> None:
    for name in ("fig3", "fig12"):
        figure = figure_of(spurious.figures[name], "")
        assert not figure.x.from_zero
        assert min(x for mark in figure.marks for x in mark.x if isinstance(x, float)) >= BEGIN_S
    assert figure_of(spurious.figures["fig13"], "").x.from_zero


def test_table_1_is_read_as_the_delay_of_a_packet() -> None:
    assert sum(share for share, _, _ in TABLE_1) == pytest.approx(1)
    assert 'high = "936ms"' in jitter(2)


def test_each_variation_of_the_gain_is_measured() -> None:
    found = what_was_tried(Context(seeds=1, quick=True), LOSS, 9)
    assert [tried.setting for tried in found] == [variant.name for variant in VARIANTS[:2]]
    assert all(tried.ours is not None and tried.ours.n == 2 for tried in found)
