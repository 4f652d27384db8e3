"""Paper 003: its experiments run what the text says literally."""

from __future__ import annotations

import polars as pl
from airtcp_studies.frame import Context
from airtcp_studies.papers.rto.setup import (
    CELL_LINK,
    PACKET_BYTES,
    POLICIES,
    Method,
    Setting,
    case,
    throughput,
    timeouts_of,
    vary,
)
from airtcp_studies.papers.rto.trace_a import peak_at_10
from hypothesis import given
from hypothesis import strategies as st

QUICK = Context(seeds=2, quick=True)


def test_an_ack_on_trace_b_takes_part_of_the_service_time() -> None:
    most = PACKET_BYTES["B"] * 8e-3 / 0.1
    beside = Setting(link=CELL_LINK)
    kbps = {}
    for name, setting in (("part", None), ("beside", beside)):
        found = case(QUICK, "B", [Method(10)], setting=setting)
        (scheme,) = found.schemes
        runs = QUICK.run(found.scenario, found.schemes, found.sets)
        kbps[name] = throughput(runs, scheme)
    assert max(kbps["part"]) < most < max(kbps["beside"])


def test_go_back_n_resends_all_that_is_outstanding_at_once() -> None:
    resent: dict[str, int] = {}
    for policy in POLICIES:
        found = case(QUICK, "A", [Method(2, policy)])
        (scheme,) = found.schemes
        runs = QUICK.run(found.scenario, found.schemes, found.sets, series_interval_s=0)
        events = runs.series(scheme).events.filter(pl.col("kind") != "loss")
        resent[policy] = max(events.group_by("time_s").len()["len"])
    # Two timers may expire together.
    assert resent["gbn"] > 2 == max(resent["sr"], resent["gbn in slow start"])


def test_variations_keep_each_method_with_its_setting() -> None:
    methods = [Method(4), Method(20)]
    settings = {"none": Setting(), "one timer": Setting(":rto.timers=connection")}
    varied = vary(QUICK, "A", settings, methods, [0.0, 0.05], seeds=1)
    rates, counts = varied.of(throughput), varied.of(timeouts_of)
    assert {name: list(of) for name, of in rates.items()} == {name: [0.0, 0.05] for name in settings}
    found = case(QUICK, "A", methods, 0.05, settings["one timer"])
    runs = QUICK.run(found.scenario, found.schemes, found.sets, seeds=1)
    assert rates["one timer"][0.05] == [throughput(runs, scheme) for scheme in found.schemes]
    assert sum(counts["none"][0.0][1]) < sum(counts["none"][0.0][0])


@given(st.lists(st.tuples(*[st.floats(1, 100)] * 3), min_size=1, max_size=3))
def test_a_peak_at_10_is_one_whatever_the_loss(curves: list[tuple[float, float, float]]) -> None:
    found = {loss / 20: [[value] for value in curve] for loss, curve in enumerate(curves)}
    assert peak_at_10(found) == all(max(curve) == curve[1] for curve in curves)
