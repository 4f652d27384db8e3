"""Summaries, the verdict in words, and the table, from runs made by hand."""

from __future__ import annotations

import io

import pytest
from conftest import flow, run, runs_of
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from airtcp.facts.summary import summarise_all
from airtcp.facts.verdict import verdict
from airtcp.showing.comparison_table import columns, print_table


def test_a_clear_winner_is_named_with_its_lead() -> None:
    judged = verdict(runs_of(reno=[1.0, 1.1, 0.9], cubic=[2.0, 2.1, 1.9], bbr=[4.0, 4.2, 3.8]))
    assert judged is not None
    assert (judged.best, judged.tied) == ("bbr", ())
    assert "100.0 %" in judged.text
    assert "above cubic" in judged.text
    assert "Against reno: +300.0 %" in judged.text


def test_a_tie_is_called_a_tie() -> None:
    judged = verdict(runs_of(reno=[2.0, 2.4, 1.9], cubic=[2.1, 2.2, 2.1]))
    assert judged is not None
    assert judged.tied == ("reno",)
    assert "No statistically clear winner" in judged.text


def test_pairing_by_seed_sees_what_the_spread_hides() -> None:
    """The seeds differ by far more than the schemes do, but one is always the better by a tenth."""
    judged = verdict(runs_of(reno=[1.0, 5.0, 9.0], cubic=[1.1, 5.12, 9.11]))
    assert judged is not None
    assert (judged.best, judged.tied) == ("cubic", ())


def test_the_same_results_are_a_tie() -> None:
    judged = verdict(runs_of(reno=[2.0, 2.0], cubic=[2.0, 2.0]))
    assert judged is not None
    assert judged.tied


def test_runs_that_repeat_one_run_are_a_tie_whatever_they_reach() -> None:
    """However many seeds: without any spread, nothing tells a lead from chance."""
    judged = verdict(runs_of(reno=[2.0] * 9, cubic=[1.9] * 9))
    assert judged is not None
    assert (judged.best, judged.tied) == ("reno", ("cubic",))
    assert "No statistically clear winner" in judged.text
    assert "± 0.0" not in judged.text
    assert judged.text.endswith("In them, reno is 5.3 % above cubic.")


@given(st.floats(0.5, 2.0), st.floats(-1.2, 1.2), st.lists(st.floats(0.9, 1.1), min_size=2, max_size=8))
def test_nobody_wins_by_a_lead_that_reads_as_none(base: float, lead: float, spread: list[float]) -> None:
    """`0.0 % above` is no lead, however narrow its interval."""
    runs = runs_of(reno=[base * s * (1 + lead / 1000) for s in spread], cubic=[base * s for s in spread])
    judged = verdict(runs)
    assert judged is not None
    assert judged.tied or " 0.0 %" not in judged.text


@pytest.mark.parametrize("replays", [False, True])
def test_seeds_that_repeat_one_run_are_no_certainty(replays: bool) -> None:
    """On a recording, an interval of zero width is about one stretch of it."""
    judged = verdict(runs_of(cubic=[2.0, 2.0], vegas=[1.0, 1.0], bbr=[1.5, 1.6]), replays=replays)
    assert judged is not None
    assert judged.best == "cubic"
    assert "All runs of cubic and vegas are identical: almost nothing on this path is random" in judged.text
    assert "is random" in judged.text
    assert ("only for this stretch of the recording" in judged.text) == replays
    assert ("enter_recordings" in judged.text) == replays


def test_samples_of_one_run_do_not_make_it_another() -> None:
    """The first seed leaves time series: more events of the simulator, on the same course."""
    runs = runs_of(cubic=[2.0, 2.0], reno=[1.0, 1.0])
    runs[0]["events"] += 1500
    judged = verdict(runs)
    assert judged is not None
    assert "All runs of each scheme are identical" in judged.text


def test_on_a_recording_runs_that_differ_hold_for_its_stretch_too() -> None:
    judged = verdict(runs_of(cubic=[2.0, 2.1], vegas=[1.0, 1.2]), replays=True)
    assert judged is not None
    assert "identical" not in judged.text
    assert judged.text.endswith("starts each seed at a different place.")


def test_equal_goodput_of_runs_that_differ_is_chance() -> None:
    runs = runs_of(cubic=[2.0, 2.0], reno=[1.0, 1.1])
    runs[0]["flows"][0]["rtt_p50_ms"] = 51.0
    judged = verdict(runs)
    assert judged is not None
    assert "identical" not in judged.text


def test_one_seed_decides_nothing() -> None:
    judged = verdict(runs_of(reno=[1.0], cubic=[2.0]))
    assert judged is not None
    assert "single seed" in judged.text
    assert "identical" not in judged.text


def test_one_scheme_has_nothing_to_be_compared_with() -> None:
    assert verdict(runs_of(reno=[1.0, 2.0])) is None


def test_transfers_that_end_are_judged_by_their_completion_time() -> None:
    runs = [run("reno", seed, flow(1e6, [4.0, 6.0 + seed])) for seed in (1, 2, 3)]
    runs += [run("cubic", seed, flow(1e6, [2.0, 3.0 + seed])) for seed in (1, 2, 3)]
    judged = verdict(runs)
    assert judged is not None
    assert judged.best == "cubic"
    assert "below reno" in judged.text
    reno, cubic = summarise_all(runs)
    assert reno.completion is not None
    assert reno.completion.mean == pytest.approx(6.0)
    assert cubic.gain is not None
    assert cubic.gain.mean == pytest.approx(3.5 / 6 - 1)


def test_after_an_interruption_only_common_seeds_are_paired() -> None:
    runs = runs_of(reno=[1.0, 2.0, 3.0], cubic=[1.5, 2.5])
    _, cubic = summarise_all(runs)
    assert cubic.gain is not None
    assert cubic.gain.n == 2
    assert cubic.gain.mean == pytest.approx(0.5 / 1.5)


def test_unmeasured_flows_count_for_nothing() -> None:
    cross = flow(5e6)
    cross["measured"] = False
    (summary,) = summarise_all([run("reno", 1, flow(1e6), cross)])
    assert summary.goodput.mean == 1e6
    assert summary.share_of_bound == pytest.approx(0.1)
    assert summary.timeouts == 3


def _printed(width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    rows = summarise_all(runs_of(reno=[1.0, 1.2], bbr=[4.0, 4.2]))
    print_table(console, rows, columns(rows), ["bbr"])
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_the_table_has_everything_where_there_is_room() -> None:
    text = "\n".join(_printed(120))
    for cell in ("1.10 ± 1.27", "+272.7 ± 0.0", "11.0", "2.00", "3.0 (1.0)", "50.0 / 90.0"):
        assert cell in text


@pytest.mark.parametrize("width", [30, 50, 80])
def test_a_narrow_table_leaves_columns_out_and_says_so(width: int) -> None:
    lines = _printed(width)
    assert all(len(line) <= width for line in lines)
    assert any("4.10 ± 1.27" in line for line in lines)
    assert any("Omitted" in line for line in lines)
