"""Whatever round trips look like, a fit has their mean, deviation and quantiles, or replays them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airtcp.fit.delay import ALIKE, NEAR, fit_delay
from airtcp.fit.fitting import Fit, fit_measurements
from airtcp.fit.measurement import Floats, Measurement, OneWay, RoundTrips

INTERVAL_S = 0.2
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
@settings(max_examples=150, deadline=None)
def test_a_fit_has_the_moments_and_quantiles_of_what_was_measured(rtt: Floats) -> None:
    found = fit_delay(RoundTrips(np.arange(len(rtt), dtype=np.float64) * INTERVAL_S, rtt))
    assert found is not None
    assert found.base_s.best >= rtt.min() / 2
    varies = found.variation
    assert varies is None or not found.unlike
    if varies is None:
        return
    # Spikes and stalls are apart, with their own keys; without them, the sample is what was fitted.
    if found.spikes is None and found.stalls is None:
        deviation = float(rtt.std())
        assert abs(found.base_s.best + varies.mean_s - rtt.mean()) <= NEAR * deviation + 1e-9
        assert 1 / ALIKE <= varies.deviation_s / deviation <= ALIKE
        drawn = np.exp(varies.mu + varies.sigma * np.random.default_rng(0).standard_normal(20_000))
        for share in (0.5, 0.95):
            half = 2 * np.sqrt(share * (1 - share) / len(rtt))
            low, high = np.quantile(rtt, [max(0, share - half), min(1, share + half)])
            fitted = found.base_s.best + float(np.quantile(drawn, share))
            assert low - 0.35 * deviation <= fitted <= high + 0.35 * deviation


@given(shapes)
@settings(max_examples=60, deadline=None)
def test_what_is_like_no_log_normal_is_replayed_as_it_was(rtt: Floats) -> None:
    fitted = fit_measurements([ping_of(rtt)])
    assert fitted.delay is not None
    if fitted.delay.unlike:
        # The file has whole microseconds.
        assert replayed(fitted) == pytest.approx(rtt, abs=6e-7)
        jitter = tomllib.loads(fitted.toml)["link"][0]["jitter"]
        assert jitter["distribution"] == "series"
        assert fitted.delay.unlike in " ".join(fitted.toml.replace("\n# ", " ").split())
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
    assert (link["delay"], link["jitter"]["distribution"]) == ("0ms", "series")
    assert replayed(fitted, "probes.there.txt") == pytest.approx(there, abs=6e-7)
    assert (link["reverse"]["delay"], link["reverse"]["jitter"]["distribution"]) == ("10ms", "constant")
    fitted.scenario.run("reno", 1)
