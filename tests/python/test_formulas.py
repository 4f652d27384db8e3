"""The papers' closed forms, held against what the papers state and against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from airtcp_studies.model import formulas

PINNED: list[tuple[Callable[..., float], tuple[Any, ...], float]] = [
    (formulas.packet_error_rate, (3e-05, 576), 0.12911215276561594),
    (formulas.packet_error_rate, (1e-07, 1500), 0.0011992803478416678),
    (formulas.packet_error_rate, (1e-12, 40), 3.1999999994896e-10),
    (formulas.packet_error_rate, (0.00012, 1000), 0.6171291697843866),
    (formulas.packet_error_rate_first_order, (3e-05, 576), 0.13824),
    (formulas.packet_error_rate_first_order, (2e-06, 52), 0.000832),
    (formulas.maximum_allowable_window, (0.14,), 3.477456761111049),
    (formulas.maximum_allowable_window, (0.000832,), 55.62268277932621),
    (formulas.maximum_allowable_window, (1e-07,), 5162.977891767805),
    (formulas.maximum_allowable_throughput, (56.3, 1500, 0.1), 655874.9999999998),
    (formulas.maximum_allowable_throughput, (3.5, 576, 0.54), 4400.0),
    (formulas.goodput_bound, (652500, 0.024, 1500, 52), 614762.88),
    (formulas.decoupling_gain, (1500, 52), 5.370861555295747),
    (formulas.decoupling_gain_at, (2e-06, 1500, 52), 4.9725079823612965),
    (formulas.decoupling_gain_at, (3e-05, 576, 15), 5.12946563690161),
    (formulas.red_maximum_average_queue, (5, 15, 0.1, 0.002, [22, 22]), 8.017114109102522),
    (formulas.red_maximum_average_queue, (7, 21, 0.2, 0.01, [10, 20, 30]), 10.597395613738568),
    (formulas.red_maximum_average_queue, (5, 15, 0.1, 0.002, [25, 25], 0.02), 9.004),
]
"""What they came to when they were Rust."""

CASE_1 = (5, 15, 0.1, 0.002)
"""RED of paper 002: thresholds, probability, weight."""


@pytest.mark.parametrize(("formula", "inputs", "value"), PINNED)
def test_the_values_are_pinned(formula: Callable[..., float], inputs: tuple[Any, ...], value: float) -> None:
    assert formula(*inputs) == pytest.approx(value, rel=1e-12)


def test_eq_1_the_papers_error_rates() -> None:
    """Paper 000: 3·10⁻⁵ · 576 · 8 = 0.14, "one corrupted packet in every 7.2"; §8.3: PS 52 gives 0.0008."""
    assert formulas.packet_error_rate_first_order(3e-5, 576) == pytest.approx(0.14, abs=0.005)
    assert 1 / formulas.packet_error_rate_first_order(3e-5, 576) == pytest.approx(7.2, abs=0.05)
    assert formulas.packet_error_rate_first_order(2e-6, 52) == pytest.approx(0.0008, abs=0.00005)


def test_eq_2_the_window_sends_one_packet_in_error_a_cycle() -> None:
    for error_rate in (1, 0.3, 0.01, 1e-6):
        window = formulas.maximum_allowable_window(error_rate)
        assert (3 / 8 * window**2 + 3 / 4 * window) * error_rate == pytest.approx(1, abs=1e-9)


def test_the_papers_windows() -> None:
    """§3: "when PER is 0.14, W is about 4" (3.5); §7: PS 52 makes it 14; §8.3: PER 0.0008 gives 56."""
    assert formulas.maximum_allowable_window(0.14) == pytest.approx(4, abs=0.6)
    assert formulas.maximum_allowable_window(
        formulas.packet_error_rate_first_order(3e-5, 52)
    ) == pytest.approx(14, abs=0.5)
    assert formulas.maximum_allowable_window(
        formulas.packet_error_rate_first_order(2e-6, 52)
    ) == pytest.approx(56, abs=0.5)


def test_the_exact_error_rate_stays_a_probability() -> None:
    """The first-order form overshoots: 1 000 B at 1.2·10⁻⁴ would be 0.96, and are 0.617."""
    assert formulas.packet_error_rate(1.2e-4, 1000) == pytest.approx(0.617, abs=0.001)
    assert formulas.packet_error_rate(1e-7, 1000) == pytest.approx(
        formulas.packet_error_rate_first_order(1e-7, 1000), abs=1e-6
    )
    assert formulas.packet_error_rate(0, 1000) == 0
    assert formulas.packet_error_rate(1, 1000) == 1


def test_the_bound_at_100_ms() -> None:
    """§8.3: W 56, PS 1 500, RTT 100 ms give 652 500 bytes a second, of which 615 KB are useful."""
    throughput = formulas.maximum_allowable_throughput(56, 1500, 0.1)
    assert throughput == pytest.approx(652_500)
    bound = formulas.goodput_bound(throughput, formulas.packet_error_rate_first_order(2e-6, 1500), 1500, 52)
    assert bound == pytest.approx(615_000, abs=500)


def test_eq_4_and_section_7_do_not_follow_from_eq_3() -> None:
    """It gives 38.4 and 102.4 kbit/s where the paper has 26 and 119: 3/4·W·PS/RTT and W·PS/RTT."""
    assert formulas.maximum_allowable_throughput(4, 576, 0.54) * 8e-3 == pytest.approx(38.4, abs=0.05)
    assert formulas.maximum_allowable_throughput(14, 576, 0.54) * 8e-3 == pytest.approx(102.4, abs=0.05)
    assert pytest.approx(26, abs=0.5) == 0.75 * 4 * 576 / 0.54 * 8e-3
    assert pytest.approx(119, abs=0.6) == 14 * 576 / 0.54 * 8e-3


def test_the_gain_goes_with_the_root_of_the_sizes() -> None:
    """The introduction's WaveLAN: MTU 1 500 and HP_Sz 40 bytes make a goodput of six times."""
    assert formulas.decoupling_gain(1500, 40) == pytest.approx(6.12, abs=0.005)
    assert formulas.decoupling_gain(1500, 52) == pytest.approx(5.37, abs=0.005)
    assert formulas.decoupling_gain(1500, 1500) == 1


def test_the_simple_gain_is_the_limit_of_rare_errors() -> None:
    """It promises too much where W is small."""
    assert formulas.decoupling_gain_at(1e-10, 1500, 52) == pytest.approx(
        formulas.decoupling_gain(1500, 52), abs=0.01
    )
    assert formulas.decoupling_gain_at(3e-5, 1500, 52) < 0.8 * formulas.decoupling_gain(1500, 52)


def test_red_marks_by_eq_2() -> None:
    """Not gentle."""
    assert [formulas.red_marking_probability(average, 5, 15, 0.1) for average in (4.9, 10, 15)] == [
        0,
        0.05,
        1,
    ]


def test_eq_8_adds_the_increments_of_each_flow() -> None:
    """By hand: p = 0.02, two flows of 25 packets: β = 2 each."""
    assert formulas.red_maximum_average_queue(*CASE_1, [25, 25], 0.02) == pytest.approx(
        5 + 2 * 2.002, abs=1e-9
    )


def test_the_self_consistent_maximum_solves_both_equations() -> None:
    windows = [20, 30]
    maximum = formulas.red_maximum_average_queue(*CASE_1, windows)
    probability = formulas.red_marking_probability(maximum, *CASE_1[:3])
    assert formulas.red_maximum_average_queue(*CASE_1, windows, probability) == pytest.approx(
        maximum, abs=1e-9
    )


@pytest.mark.parametrize(
    ("red", "paper"), [(CASE_1, 7.3), ((5, 15, 0.2, 0.002), 6.7), ((7, 21, 0.1, 0.002), 9.6)]
)
def test_table_2_within_an_eighth(red: tuple[float, float, float, float], paper: float) -> None:
    """The paper names no window. Two flows of 22 packets (Fig 5's axis) fill the pipe of 37 and queue 7."""
    assert formulas.red_maximum_average_queue(*red, [22, 22]) == pytest.approx(paper, rel=0.12)
