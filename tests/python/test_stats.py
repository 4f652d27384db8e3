"""The statistics against published tables and closed forms."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airtcp.facts.stats import estimate, paired_difference, relative_gain, student_t_cdf, student_t_quantile


@pytest.mark.parametrize(
    ("p", "df", "expected"),
    [
        # Closed forms: df 1 is Cauchy's, df 2 is (2p − 1)·√(2/(4p(1 − p))).
        (0.975, 1, math.tan(math.pi * 0.475)),
        (0.975, 2, 0.95 * math.sqrt(2 / (4 * 0.975 * 0.025))),
        # The table of every textbook, three decimals.
        (0.975, 3, 3.182),
        (0.975, 4, 2.776),
        (0.975, 9, 2.262),
        (0.975, 30, 2.042),
        (0.995, 7, 3.499),
        (0.95, 10, 1.812),
        (0.975, 1000, 1.962),
    ],
)
def test_quantiles_are_the_published_ones(p: float, df: int, expected: float) -> None:
    assert student_t_quantile(p, df) == pytest.approx(expected, abs=5.1e-4)


@given(st.floats(0.5, 0.9999), st.integers(1, 200))
def test_the_quantile_inverts_the_distribution(p: float, df: int) -> None:
    assert student_t_cdf(student_t_quantile(p, df), df) == pytest.approx(p, abs=1e-9)


def test_interval_of_a_mean_is_the_textbook_one() -> None:
    # n = 4, mean 5, s = √(20/3); t(0.975, 3) = 3.18245.
    result = estimate([2.0, 4.0, 6.0, 8.0])
    assert result.mean == 5
    assert result.half_width == pytest.approx(3.18245 * math.sqrt(20 / 3) / 2, rel=1e-5)


def test_one_value_has_no_interval_and_decides_nothing() -> None:
    result = estimate([3.0])
    assert result.mean == 3
    assert result.half_width is None
    assert result.includes(1e9)


def test_pairing_removes_what_the_seeds_share() -> None:
    seeds = [1.0, 50.0, 7.0, 90.0]
    difference = paired_difference([seed + 2 for seed in seeds], seeds)
    assert difference.mean == pytest.approx(2)
    assert difference.half_width == pytest.approx(0, abs=1e-9)
    assert not difference.includes(0)


def test_gain_is_relative_to_the_mean_of_the_base() -> None:
    gain = relative_gain([12.0, 24.0], [10.0, 20.0])
    assert gain is not None
    assert gain.mean == pytest.approx(0.2)
    assert relative_gain([1.0, 2.0], [0.0, 0.0]) is None


@given(st.lists(st.tuples(st.floats(0.1, 1e6), st.floats(0.1, 1e6)), min_size=2, max_size=20))
def test_gain_and_difference_agree_on_a_tie(pairs: list[tuple[float, float]]) -> None:
    values, base = [a for a, _ in pairs], [b for _, b in pairs]
    difference, gain = paired_difference(values, base), relative_gain(values, base)
    assert gain is not None
    assert difference.half_width is not None
    if abs(abs(difference.mean) - difference.half_width) > 1e-6 * abs(difference.mean):
        assert gain.includes(0) == difference.includes(0)


def test_coverage_is_the_nominal_one() -> None:
    """95 % of the intervals of normal samples of 5 cover the true mean (here within 3 standard errors)."""
    rng = random.Random(1)
    runs = 4000
    covered = sum(estimate([rng.gauss(10, 3) for _ in range(5)]).includes(10) for _ in range(runs))
    assert abs(covered / runs - 0.95) < 3 * math.sqrt(0.95 * 0.05 / runs)
