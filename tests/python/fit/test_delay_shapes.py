"""Whatever round trips look like, a fit has their mean, deviation and quantiles, or replays them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from airtcp_studies.calibration.probes import probe
from hypothesis import given, settings
from hypothesis import strategies as st

from airtcp.fit.delay import fit_delay
from airtcp.fit.fitting import Fit, fit_measurements
from airtcp.fit.floor import clock_step
from airtcp.fit.levels import find_levels
from airtcp.fit.log_normal import ALIKE, MEAN_NEAR
from airtcp.fit.measurement import Floats, Measurement, OneWay, RoundTrips

INTERVAL_S = 0.2
LONGEST_S = 8.0
"""Probes do not wait longer."""
SHAPES = (
    "levels",
    "uniform",
    "two humps",
    "heavy tail",
    "few values",
    "whole milliseconds",
    "log-normal",
    "slope",
    "load begins",
)


def shaped(shape: str, n: int, base: float, spread: float, seed: int) -> Floats:
    """Returns `n` round trips in seconds, of at least `base`, that spread over some `spread` base."""
    random = np.random.default_rng(seed)
    unit = random.random(n)
    place, high = np.arange(n), 1e3 * base * spread
    match shape:
        case "levels":
            above = np.floor(4 * place / n) + 0.05 * unit
        case "uniform":
            above = unit
        case "two humps":
            above = np.where(unit < 0.4, 0.02, 1.0) + 0.01 * random.standard_exponential(n)
        case "heavy tail":
            above = np.minimum(random.pareto(1.1, n), 1e4)
        case "few values":
            above = random.choice([0.0, 0.1, 3.0], n)
        case "whole milliseconds":
            above = np.ceil(high * unit) / high
        case "log-normal":
            above = np.exp(0.8 * random.standard_normal(n))
        case "slope":
            above = place / n
        case _:
            above = np.where(place < n // 3, 0.01 * unit, 1 + unit)
    return np.asarray(base * (1 + spread * above), dtype=np.float64)


def ping_of(rtt: Floats) -> Measurement:
    return Measurement(
        Path("ping.log"),
        "ping",
        round_trips=RoundTrips(np.arange(len(rtt), dtype=np.float64) * INTERVAL_S, rtt),
    )


def replayed(fitted: Fit, name: str = "ping.rtt.txt") -> Floats:
    """Returns what is above the floor."""
    return np.array([float(value) for value in fitted.files[name].split()]) / 1e3


shapes = st.builds(
    shaped,
    st.sampled_from(SHAPES),
    st.integers(20, 800),
    st.floats(1e-3, 0.5),
    st.floats(0.02, 30.0),
    st.integers(0, 2**32 - 1),
)


@given(shapes)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_a_fit_has_the_moments_and_quantiles_of_what_was_measured(rtt: Floats) -> None:
    found = fit_delay(RoundTrips(np.arange(len(rtt), dtype=np.float64) * INTERVAL_S, rtt))
    assert found is not None
    lowest = np.sort(rtt)[: max(6, len(rtt) // 20 + 2)]
    resolved = max(lowest[-1] - lowest[0], clock_step(rtt))
    assert rtt.min() - resolved - 1e-9 <= found.base_s.best <= rtt.min() + 1e-9
    assert found.base_s.best >= rtt.min() / 2
    varies = found.variation
    assert varies is None or not found.unlike
    if varies is None:
        return
    # Spikes and stalls are apart, with their own keys; without them, the sample is what was fitted.
    if found.spikes is None and found.stalls is None:
        deviation = float(rtt.std())
        assert abs(found.base_s.best + varies.mean_s - rtt.mean()) <= MEAN_NEAR * deviation + 1e-9
        assert 1 / ALIKE <= varies.deviation_s / deviation <= ALIKE
        drawn = np.exp(varies.mu + varies.sigma * np.random.default_rng(0).standard_normal(20_000))
        for share in (0.5, 0.95):
            half = 2 * np.sqrt(share * (1 - share) / len(rtt))
            low, high = np.quantile(rtt, [max(0, share - half), min(1, share + half)])
            fitted = found.base_s.best + float(np.quantile(drawn, share))
            assert low - 0.35 * deviation <= fitted <= high + 0.35 * deviation


@given(shapes)
@settings(max_examples=30, deadline=None, derandomize=True)
def test_what_is_like_no_log_normal_is_replayed_as_it_was(rtt: Floats) -> None:
    fitted = fit_measurements([ping_of(rtt)])
    assert fitted.delay is not None
    if fitted.delay.unlike:
        # The file has whole microseconds.
        (link,) = tomllib.loads(fitted.toml)["link"]
        assert replayed(fitted) == pytest.approx(rtt - rtt.min(), abs=6e-7)
        # The floor is the least round trip, with four digits.
        assert 2 * float(link["delay"].removesuffix("ms")) / 1e3 == pytest.approx(rtt.min(), rel=1e-3)
        assert link["jitter"]["distribution"] == "series"
        assert fitted.delay.levels or fitted.delay.unlike in " ".join(
            fitted.toml.replace("\n# ", " ").split()
        )
    fitted.scenario.run("reno", 1)


@pytest.mark.parametrize("shape", ["two humps", "load begins", "few values", "levels"])
def test_the_shapes_that_no_log_normal_has_are_replayed(shape: str) -> None:
    fitted = fit_measurements([ping_of(shaped(shape, 600, 0.05, 20.0, 1))])
    assert fitted.delay is not None
    assert fitted.delay.unlike


def test_each_way_is_replayed_by_itself() -> None:
    """The way there is like no log-normal, the way back is constant, and stays so."""
    there, back = shaped("two humps", 600, 0.02, 20.0, 1), np.full(600, 0.01)
    time = np.arange(600, dtype=np.float64) * INTERVAL_S
    both = Measurement(
        Path("probes.csv"),
        "probes",
        round_trips=RoundTrips(time, there + back),
        one_way=(OneWay(time, there, "forward", 84.0, None), OneWay(time, back, "reverse", 84.0, None)),
    )
    fitted = fit_measurements([both])
    (link,) = tomllib.loads(fitted.toml)["link"]
    assert link["jitter"]["distribution"] == "series"
    assert float(link["delay"].removesuffix("ms")) / 1e3 == pytest.approx(there.min(), rel=1e-3)
    assert replayed(fitted, "probes.there.txt") == pytest.approx(there - there.min(), abs=6e-7)
    assert (link["reverse"]["delay"], link["reverse"]["jitter"]["distribution"]) == ("10ms", "constant")
    fitted.scenario.run("reno", 1)


@given(shapes)
@settings(max_examples=12, deadline=None, derandomize=True)
def test_the_scenario_pinged_is_like_the_sample(rtt: Floats) -> None:
    """Mean within 0.2, median and 95th percentile within 0.4 standard deviations, deviation within 1.4.

    The log-normal is drawn anew: to the fit's own bounds, half as much again and what the chance of some
    thousand round trips explains is added. What is replayed is the sample, to the clock's step.
    """
    fitted = fit_measurements([ping_of(rtt)])
    assert fitted.delay is not None
    if fitted.delay.spikes or fitted.delay.stalls or rtt.max() > LONGEST_S:
        return
    varies = fitted.delay.variation
    memory = 1.0 if varies is None else (1 + varies.correlation.used) / (1 - varies.correlation.used)
    steps = len(rtt) if varies is None else 2000
    pinged = probe(fitted.scenario, 1, count=steps, interval_s=INTERVAL_S).rtt_s
    pinged = pinged[np.isfinite(pinged)]
    scale = float(rtt.std()) + 1e-4
    # The link that is assumed takes time for a ping and its answer.
    rtt = rtt + 2 * 8 * 84 / fitted.rate_bps
    if varies is None and not fitted.delay.unlike:
        assert pinged.mean() == pytest.approx(rtt.mean(), abs=max(2e-3 * rtt.mean(), 6 * scale))
        return
    chance = 3 * np.sqrt(memory / steps) if varies else 0.0
    assert abs(pinged.mean() - rtt.mean()) <= (0.2 + chance) * scale
    assert 1 / (1.4 + chance) <= (pinged.std() + 1e-4) / scale <= 1.4 + 3 * chance
    for share in (0.5, 0.95):
        half = 2 * np.sqrt(share * (1 - share) / len(rtt))
        low, high = np.quantile(rtt, [max(0, share - half), min(1, share + half)])
        assert low - (0.4 + chance) * scale <= np.quantile(pinged, share) <= high + (0.4 + chance) * scale


@pytest.mark.parametrize("loaded", ["full", "sawtooth", "small", "slow"])
@pytest.mark.parametrize("when", ["begins", "ends", "on and off", "once"])
@pytest.mark.parametrize("step_s", [1e-6, 1e-3])
def test_idle_and_loaded_are_told_apart(loaded: str, when: str, step_s: float) -> None:
    n, random = 600, np.random.default_rng(2)
    place, unit = np.arange(n), random.random(n)
    idle = 0.05 + 0.004 * unit
    high = {
        "full": 0.3 + 0.05 * unit,
        "sawtooth": 0.2 + 0.2 * (place % 60) / 60,
        "small": 0.08 + 0.01 * unit,
        "slow": 0.06 + 0.004 * place,
    }[loaded]
    is_loaded = {
        "begins": place >= 250,
        "ends": place < 250,
        "on and off": place // 100 % 2 == 1,
        "once": (place >= 300) & (place < 360),
    }[when]
    rtt = np.round(np.where(is_loaded, high, idle) / step_s) * step_s
    fitted = fit_measurements([ping_of(rtt)])
    assert fitted.delay is not None
    levels = fitted.delay.levels
    assert levels is not None
    assert levels.idle.mean_s == pytest.approx(rtt[~is_loaded].mean(), rel=0.03)
    assert levels.loaded.mean_s == pytest.approx(rtt[is_loaded].mean(), rel=0.1)
    (said,) = (found for found in fitted.found if found.quantity == "two levels of round trips")
    assert "idle" in said.shown
    assert "loaded" in said.shown
    (open_,) = (each for each in fitted.unknown if each.quantity == "what made round trips long")
    idle_only = fitted.scenario.vary(dict(open_.readings[1].keys))
    pinged = probe(idle_only, count=400, interval_s=INTERVAL_S).rtt_s
    assert np.nanmean(pinged) == pytest.approx(rtt[~is_loaded].mean(), rel=0.03)


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.9), st.floats(0.1, 2.0), st.floats(0.005, 0.2))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_chance_is_no_load(seed: int, memory: float, sigma: float, base: float) -> None:
    """Log-normal round trips, however correlated, are of one level."""
    random = np.random.default_rng(seed)
    score = random.standard_normal(1200)
    for place in range(1, len(score)):
        score[place] = memory * score[place - 1] + np.sqrt(1 - memory**2) * score[place]
    rtt = base + 0.02 * np.exp(sigma * score)
    assert find_levels(np.arange(1200, dtype=np.float64) * INTERVAL_S, rtt) is None


def test_answers_that_overtake_do_so_in_the_scenario() -> None:
    """Round trips of 100 to 900 ms at random, five a second: in order, they would all be long."""
    rtt = np.where(np.random.default_rng(5).random(600) > 0.5, 0.9, 0.1).astype(np.float64)
    fitted = fit_measurements([ping_of(rtt)])
    assert tomllib.loads(fitted.toml)["link"][0]["jitter"]["overtaking"] is True
    pinged = probe(fitted.scenario, count=600, interval_s=INTERVAL_S).rtt_s
    assert pinged.mean() == pytest.approx(rtt.mean(), rel=0.02)
    assert pinged.std() == pytest.approx(rtt.std(), rel=0.02)
