"""The interval of a loss holds as often as it says, whether losses come alone or in bursts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airtcp.fit.loss import fit_loss
from airtcp.fit.share import in_runs, independent

PATHS = 400


def fates(rng: np.random.Generator, n: int, loss: float, burst: float) -> npt.NDArray[np.bool_]:
    """Returns packets whose losses come in bursts of that mean length; one packet is no burst."""
    to_good = 1 / burst if burst > 1 else 1 - loss
    to_bad = to_good * loss / (1 - loss)
    lost, at, state = np.zeros(n, dtype=np.bool_), 0, bool(rng.random() < loss)
    while at < n:
        length = int(rng.geometric(to_good if state else to_bad))
        lost[at : at + length] = state
        at, state = at + length, not state
    return lost


@pytest.mark.parametrize(("n", "loss"), [(600, 0.01), (600, 0.02), (6000, 0.003)])
@pytest.mark.parametrize("burst", [1, 3, 6])
def test_an_interval_holds_as_often_as_it_says(n: int, loss: float, burst: float) -> None:
    """Six bursts of three held in 83 of a hundred when their number was taken as known."""
    rng = np.random.default_rng([n, int(1e4 * loss), int(burst)])
    held = told = 0
    for _ in range(PATHS):
        lost = fates(rng, n, loss, burst)
        if (count := int(lost.sum())) == 0:
            continue
        told += 1
        runs = int((lost & ~np.roll(lost, 1)).sum())
        held += in_runs(n, count, runs).includes(loss)
    # Three standard deviations of a share of 95 % over some 350 paths are 0.035.
    assert held / told > 0.95 - 0.035


@given(n=st.integers(2, 5000), lost=st.integers(1, 400), runs=st.integers(1, 400))
@settings(max_examples=200, deadline=None)
def test_fewer_runs_tell_no_more(n: int, lost: int, runs: int) -> None:
    lost = min(lost, n - 1)
    runs = min(runs, lost, n - lost)
    found = in_runs(n, lost, runs)
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < found.best < found.high < 1
    if runs > 1:
        fewer = in_runs(n, lost, runs - 1)
        assert fewer.low is not None
        assert fewer.high is not None
        assert fewer.low <= found.low * (1 + 1e-9)
        assert fewer.high >= found.high * (1 - 1e-9)


def test_many_losses_alone_have_the_interval_of_independent_ones() -> None:
    wilson = independent(6000, 0.03)
    alone = in_runs(6000, 180, 175)
    assert (alone.low, alone.high) == pytest.approx((wilson.low, wilson.high), rel=0.03)


def test_a_loss_at_the_end_of_a_file_is_a_run_like_any_other() -> None:
    lost = np.zeros(600, dtype=np.bool_)
    middle, end = lost.copy(), lost.copy()
    middle[300], end[599] = True, True
    one, other = fit_loss(middle), fit_loss(end)
    assert one is not None
    assert other is not None
    assert one.share == other.share


def test_losses_at_both_ends_are_one_run() -> None:
    lost = np.zeros(600, dtype=np.bool_)
    lost[[0, 599]] = True
    found = fit_loss(lost)
    assert found is not None
    assert found.share == in_runs(600, 2, 1)
