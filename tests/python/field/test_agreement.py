"""What simulator and kernel say together, from runs made by hand."""

from __future__ import annotations

import pytest
from conftest import flow, run, runs_of

from airtcp.facts.agreement import Agreement, agreement


def test_ratios_are_paired_over_seeds() -> None:
    found = _agreement(reno=([1.0, 2.0, 3.0], [1.1, 2.2, 3.3]))
    (pair,) = found.pairs
    assert pair.ratio is not None
    assert pair.ratio.mean == pytest.approx(1.1)
    # Over the seeds as they are, goodput varies far more than the ratio.
    assert pair.ratio.half_width is not None
    assert pair.ratio.half_width < 0.2
    assert found.text == "The kernel's goodput is 1.10 times the simulator's."


def test_both_rank_alike() -> None:
    found = _agreement(reno=([1.0, 1.1], [0.9, 1.0]), bbr=([5.0, 5.1], [5.0, 5.2]))
    assert not found.contradictions
    assert not found.undecided
    assert "rank all 2 schemes the same; bbr leads in both." in found.text
    assert "0.90 to 1.01 times" in found.text


def test_a_contradiction_is_named() -> None:
    found = _agreement(
        reno=([1.0, 1.1], [5.0, 5.1]), bbr=([5.0, 5.1], [1.0, 1.1]), cubic=([3, 3.1], [3, 3.1])
    )
    assert ("bbr", "reno") in found.contradictions
    assert "disagree: the simulator ranks bbr over cubic, bbr over reno and cubic over reno" in found.text


def test_what_only_one_can_tell_apart_is_no_contradiction() -> None:
    found = _agreement(reno=([1.0, 1.1], [1.0, 9.0]), bbr=([5.0, 5.1], [5.0, 2.0]))
    assert not found.contradictions
    assert found.undecided == (("bbr", "reno"),)
    assert (
        "one of them separates bbr from reno; first in the simulator: bbr; on the kernel: reno" in found.text
    )


def test_a_single_seed_is_said() -> None:
    for found in (
        _agreement(reno=([1.0], [1.1]), bbr=([5.0], [5.1])),
        _agreement(reno=([1.0], [5.1]), bbr=([5.0], [1.1])),
        # Stopped on the kernel after its first seed.
        _agreement(reno=([1.0, 1.1], [5.1]), bbr=([5.0, 5.1], [1.1])),
    ):
        assert found.text.startswith(
            "A single seed cannot show whether simulator and kernel agree on the ranking"
        )
        assert not found.contradictions
        assert not found.undecided
    assert _agreement(reno=([1.0], [1.1])).text.endswith("A single seed gives no interval; run more.")


def test_who_cannot_be_told_apart_in_the_table_is_not_first() -> None:
    level = _agreement(reno=([5.0001, 5.0001], [5.1, 5.1]), bbr=([5.0, 5.0], [5.1, 5.1]))
    assert "reno and bbr share first place in both." in level.text
    half = _agreement(reno=([5.0001, 5.0001], [5.2, 5.2]), bbr=([5.0, 5.0], [5.1, 5.1]))
    assert "first in the simulator: reno and bbr; on the kernel: reno (not significant)." in half.text


def test_nothing_in_common_and_nothing_delivered() -> None:
    assert agreement(runs_of(reno=[1.0]), runs_of(bbr=[1.0])) is None
    found = _agreement(reno=([0.0, 0.0], [1.0, 1.0]))
    assert found.pairs[0].ratio is None


def test_completion_times_are_compared_where_there_are_some() -> None:
    sim = [run("reno", 1, flow(1e6, [2.0])), run("bbr", 1, flow(1e6, [1.0]))]
    linux = [run("reno", 1, flow(1e6, [3.0])), run("bbr", 1, flow(1e6, [1.0]))]
    found = agreement(sim, linux)
    assert found is not None
    assert found.objective == "completion time"
    assert [pair.ratio.mean for pair in found.pairs if pair.ratio] == pytest.approx([1.5, 1.0])
    assert "The kernel's completion time is 1.00 to 1.50 times the simulator's." in found.text


def _agreement(**goodputs_mbps: tuple[list[float], list[float]]) -> Agreement:
    """Of each scheme, what the simulator and what the kernel has reached, seed by seed."""
    sim = runs_of(**{scheme: values for scheme, (values, _) in goodputs_mbps.items()})
    linux = runs_of(**{scheme: values for scheme, (_, values) in goodputs_mbps.items()})
    found = agreement(sim, linux)
    assert found is not None
    return found
