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
)

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
