"""Paper 002: what its tables say comes out of the set-up that its text gives."""

from __future__ import annotations

from airtcp_studies.frame import Context, absolute
from airtcp_studies.papers.spectcp.course import s3
from airtcp_studies.papers.spectcp.red import Thresholds
from airtcp_studies.papers.spectcp.satellite import falls_alike, is_reduced_by_errors, rows_of, satellite
from airtcp_studies.papers.spectcp.settings import NS2, TIMER
from airtcp_studies.papers.spectcp.threshold import (
    CASES,
    TABLE_3,
    dropped,
    dumbbell,
    largest_average,
)


def test_table_2_and_table_3_come_out_together() -> None:
    ctx = Context(seeds=3)
    found = ctx.sweep({name: dumbbell(red) for name, (red, _, _) in CASES.items()})
    for name, (_, simulated, _) in CASES.items():
        assert absolute(name, simulated, largest_average(found[name]), "packets").verdict == "agrees"
    lost = ctx.sweep({high: dumbbell(Thresholds(5, high, 0.1)) for high in TABLE_3})
    for high, said in TABLE_3.items():
        drops = dropped(lost[high])
        assert min(drops) > 0 if said == "yes" else max(drops) == 0, high


def test_the_round_trip_is_59_ms_where_nothing_queues() -> None:
    case = dumbbell(Thresholds(5, 15, 0.1), window=2)
    (run,) = Context(seeds=1).sweep({"": case})[""].of(case.schemes[0])
    assert round(run["flows"][0]["rtt_p50_ms"] or 0.0) == 59


def test_the_average_queue_peaks_where_figure_6_has_it() -> None:
    rows = s3.measure(Context(seeds=2)).rows
    assert all(row.verdict in {"agrees", "holds", "info"} for row in rows)


def test_without_backing_off_spectcp_carries_five_times_as_much_over_the_satellite() -> None:
    cases = {
        (setting, ber): satellite(ber, setting, quick=False)
        for setting in (TIMER, NS2)
        for ber in (1e-7, 1e-5, 5e-5, 1.2e-4)
    }
    found = Context(seeds=2).sweep(cases)
    faster, ecn, spec, more = rows_of(found, TIMER, ())
    assert (faster.verdict, ecn.verdict, more.verdict) == ("agrees", "agrees", "holds")
    # With ns-2's timer it differs, and the page says which setting moves it.
    literal, _, fallen, _ = rows_of(found, NS2, (TIMER,))
    assert literal.verdict == "differs"
    assert [literal.effect(tried) for tried in literal.tried] == ["agrees"]
    assert spec.ours is not None
    assert fallen.ours is not None
    assert -12 > spec.ours.mean > fallen.ours.mean
    # What §IV says beside its figures holds with ns-2's timer.
    for holds, evidence in (falls_alike(found, NS2), is_reduced_by_errors(found, NS2)):
        assert holds, evidence
