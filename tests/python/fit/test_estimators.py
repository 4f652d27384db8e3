"""The estimators give back what a known process had, within the intervals that they state."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airtcp.fit.delay import Delay, fit_delay
from airtcp.fit.hidden_chain import Chain, likelihood, run_lengths
from airtcp.fit.loss import counted_loss, fit_loss
from airtcp.fit.measurement import Flags, Floats, RoundTrips

SEEDS = range(12)


def losses(chain: Chain, n: int, seed: int) -> Flags:
    """As the simulator's Gilbert–Elliott loses packets."""
    random = np.random.default_rng(seed).random((n, 2))
    lost = np.zeros(n, dtype=np.bool_)
    bad = False
    for place, (met, moved) in enumerate(random):
        lost[place] = met < (chain.bad_loss if bad else chain.good_loss)
        bad ^= bool(moved < (chain.to_good if bad else chain.to_bad))
    return lost


def pings(n: int, seed: int, *, base: float, mean: float, deviation: float, memory: float) -> RoundTrips:
    """Log-normal above the base, one a second; `memory` is the logarithms' correlation."""
    random = np.random.default_rng(seed)
    sigma = math.sqrt(math.log1p((deviation / mean) ** 2))
    score = np.empty(n)
    score[0] = random.standard_normal()
    for place in range(1, n):
        score[place] = memory * score[place - 1] + math.sqrt(1 - memory**2) * random.standard_normal()
    above = np.exp(math.log(mean) - sigma**2 / 2 + sigma * score)
    return RoundTrips(np.arange(n, dtype=np.float64), base + above)


def delay_of(trips: RoundTrips) -> Delay:
    found = fit_delay(trips)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "chain",
    [
        Chain(0.5, 0.5, 0.02, 0.02),
        Chain(0.01, 0.3, 0.0, 1.0),
        Chain(0.01, 0.1, 0.01, 0.6),
    ],
    ids=["independent", "Gilbert", "Gilbert–Elliott"],
)
def test_the_loss_lies_in_its_interval_about_as_often_as_that_says(chain: Chain) -> None:
    # 95 % of 12: fewer than 9 has a probability of 0.2 %.
    found = [fit_loss(losses(chain, 2000, seed)) for seed in SEEDS]
    assert sum(fit is not None and fit.share.includes(chain.loss) for fit in found) >= 9


def test_the_model_that_made_the_losses_is_chosen_by_bic() -> None:
    for chain, model in [
        (Chain(0.5, 0.5, 0.02, 0.02), "Bernoulli"),
        (Chain(0.01, 0.3, 0.0, 1.0), "Gilbert"),
        (Chain(0.01, 0.1, 0.0, 0.5), "simple Gilbert–Elliott"),
        (Chain(0.01, 0.1, 0.01, 0.6), "Gilbert–Elliott"),
    ]:
        found = [fit_loss(losses(chain, 20_000, seed)) for seed in range(2)]
        assert all(fit is not None and fit.model == model for fit in found), model


def test_bursts_come_back_as_long_as_they_were() -> None:
    # Some 200 bursts of 1/0.3 = 3.3 ± 2.8 packets: their mean is good to 6 %, and four times that is allowed.
    for seed in range(4):
        found = fit_loss(losses(Chain(0.01, 0.3, 0.0, 1.0), 20_000, seed))
        assert found is not None
        assert found.burst is not None
        assert found.chain is not None
        assert found.burst.best == pytest.approx(1 / 0.3, rel=0.25)
        assert 1 / found.chain.to_good == pytest.approx(1 / 0.3, rel=0.25)


def test_none_lost_is_bounded_by_the_rule_of_three() -> None:
    found = fit_loss(np.zeros(600, dtype=np.bool_))
    assert found is not None
    assert (found.share.best, found.share.high) == (0.0, 3 / 600)


def test_all_lost_and_none_sent() -> None:
    found = fit_loss(np.ones(50, dtype=np.bool_))
    assert found is not None
    assert (found.share.best, found.model, found.chain) == (1.0, "Bernoulli", None)
    assert fit_loss(np.zeros(0, dtype=np.bool_)) is None
    assert counted_loss(100, 3).share.best == 0.03


probability = st.floats(0.01, 0.99)


@given(
    st.lists(st.booleans(), min_size=1, max_size=60),
    st.tuples(probability, probability, probability, probability),
)
@settings(max_examples=100)
def test_the_likelihood_is_that_of_the_forward_algorithm(
    fates: list[bool], values: tuple[float, ...]
) -> None:
    chain = Chain(*values)
    state = np.array([1 - chain.bad_share, chain.bad_share])
    change = np.array([[1 - chain.to_bad, chain.to_bad], [chain.to_good, 1 - chain.to_good]])
    loss = np.array([chain.good_loss, chain.bad_loss])
    for lost in fates:
        state = (state * (loss if lost else 1 - loss)) @ change
    found = likelihood(chain, run_lengths(np.array(fates)))
    assert found == pytest.approx(math.log(float(state.sum())), rel=1e-6, abs=1e-6)


def test_one_of_two_ways_loses_so_that_both_lose_what_was_seen() -> None:
    chain = Chain(0.02, 0.3, 0.01, 0.8)
    one = chain.on_one_of_two_ways()
    assert (1 - one.bad_share) ** 2 == pytest.approx(1 - chain.bad_share)
    assert one.to_good == chain.to_good
    # Both ways bad at once, a product of small numbers, is what is left.
    assert 1 - (1 - one.loss) ** 2 == pytest.approx(chain.loss, rel=0.03)


@pytest.mark.parametrize(
    ("mean", "deviation", "memory"), [(0.02, 0.015, 0.45), (0.005, 0.002, 0.0), (0.02, 0.03, 0.7)]
)
def test_delay_comes_back(mean: float, deviation: float, memory: float) -> None:
    """The base within 2 %, mean and deviation within 15 and 25 %, the correlation within its interval.

    3600 round trips with a correlation of up to 0.7 are worth 3600·(1 − 0.7)/(1 + 0.7) = 635: the mean is
    good to 6 % at a deviation of 1.5 means, and the deviation of so skew a distribution to about 10 %.
    """
    inside = 0
    for seed in range(3):
        found = delay_of(pings(3600, seed, base=0.05, mean=mean, deviation=deviation, memory=memory))
        assert found.base_s.best == pytest.approx(0.05, rel=0.02)
        assert found.variation is not None
        total = found.base_s.best + found.variation.mean_s
        assert total - 0.05 == pytest.approx(mean, rel=0.15)
        assert found.variation.deviation_s == pytest.approx(deviation, rel=0.25)
        assert found.variation.misfit < 0.04
        assert found.variation.correlation.coefficient is not None
        inside += found.variation.correlation.coefficient.includes(memory)
    assert inside >= 2


def test_the_interval_of_the_base_holds_it() -> None:
    found = [
        delay_of(pings(600, seed, base=0.05, mean=0.02, deviation=0.015, memory=0.4)).base_s for seed in SEEDS
    ]
    assert sum(value.includes(0.05) for value in found) >= 9


def test_a_correlation_that_is_not_seen_is_not_claimed() -> None:
    found = delay_of(pings(600, 1, base=0.05, mean=0.02, deviation=0.01, memory=0.0))
    assert found.variation is not None
    assert not found.variation.correlation.is_seen


def test_slow_drift_is_measured_at_a_longer_lag() -> None:
    found = delay_of(pings(20_000, 1, base=0.05, mean=0.02, deviation=0.01, memory=0.99)).variation
    assert found is not None
    # 0.99^t is below 0.8 from 22.2 s on; doublings of 1 s reach 32 s.
    assert found.correlation.interval_s == 32.0
    assert found.correlation.used == pytest.approx(0.99**32, abs=0.1)


def with_episodes(seed: int, starts: list[int], change: Floats) -> RoundTrips:
    trips = pings(1200, seed, base=0.05, mean=0.01, deviation=0.005, memory=0.3)
    rtt = trips.rtt_s.copy()
    for start in starts:
        rtt[start : start + len(change)] += change
    return RoundTrips(trips.time_s, rtt)


def test_spikes_are_told_from_the_rest() -> None:
    found = delay_of(with_episodes(1, [100, 400, 700, 1000], np.full(3, 0.8)))
    assert found.stalls is None
    assert found.spikes is not None
    assert found.spikes.count == 4
    assert found.spikes.length_s == pytest.approx(3.0)
    assert found.spikes.extra_s == pytest.approx(0.8, rel=0.02)
    assert found.spikes.every_s.best == pytest.approx((1199 - 12) / 4)
    assert found.variation is not None
    assert found.variation.mean_s == pytest.approx(0.01, rel=0.15)


def test_a_stall_after_which_all_answers_come_at_once_is_an_outage() -> None:
    found = delay_of(with_episodes(2, [300, 800], np.array([4.5, 3.5, 2.5, 1.5, 0.5])))
    assert found.spikes is None
    assert found.stalls is not None
    assert found.stalls.count == 2
    # A packet sent at its very beginning waits for all of it.
    assert 4.5 <= found.stalls.length_s <= 5.5


def test_a_path_whose_delays_are_often_long_has_no_spikes() -> None:
    trips = pings(1000, 3, base=0.05, mean=0.02, deviation=0.06, memory=0.5)
    assert delay_of(trips).spikes is None


def test_round_trips_all_alike_or_few_have_no_variation() -> None:
    same = RoundTrips(np.arange(100.0), np.full(100, 0.03))
    assert (delay_of(same).base_s.best, delay_of(same).variation) == (0.03, None)
    few = RoundTrips(np.arange(3.0), np.array([0.03, 0.05, 0.04]))
    assert (delay_of(few).base_s.best, delay_of(few).variation) == (0.03, None)
    assert fit_delay(RoundTrips(np.zeros(0), np.zeros(0))) is None


def test_a_clock_that_was_set_makes_no_base() -> None:
    trips = pings(500, 4, base=0.05, mean=0.01, deviation=0.005, memory=0.0)
    rtt = trips.rtt_s.copy()
    rtt[[7, 300]] = [1e-5, -3.0]
    found = delay_of(RoundTrips(trips.time_s, rtt))
    assert found.dropped == 2
    assert found.base_s.best == pytest.approx(0.05, rel=0.04)


finite = st.floats(0, 1e5, allow_nan=False)


@given(st.lists(st.tuples(finite, finite), max_size=80))
@settings(max_examples=50)
def test_any_round_trips_are_survived(points: list[tuple[float, float]]) -> None:
    time, rtt = (np.array([point[side] for point in points]) for side in (0, 1))
    found = fit_delay(RoundTrips(np.sort(time), rtt))
    if found is not None:
        assert found.base_s.best >= 0
        if found.variation is not None:
            assert math.isfinite(found.variation.deviation_s)
            assert 0 < found.variation.correlation.of_delays(found.variation.sigma) < 1
