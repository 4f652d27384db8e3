"""Figures of measured against fitted: round trips over time, their distribution, loss runs, throughput."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from airtcp.facts.units import rate_scale
from airtcp.fit.delay import Delay, Variation
from airtcp.fit.evidence import WAYS, Evidence, there
from airtcp.fit.hidden_chain import Chain
from airtcp.fit.loss import Loss
from airtcp.fit.measurement import Floats, RoundTrips, Throughput
from airtcp.showing.figures.style import COLOURS, GREY, figure, save, style

if TYPE_CHECKING:
    from airtcp.fit.fitting import Fit

MEASURED, FITTED = COLOURS[0], COLOURS[1]
MOST_POINTS = 4000
"""Limit on the points drawn of a series."""
MOST_RUNS = 15


def draw(fitted: Fit, evidence: Evidence, directory: Path) -> list[Path]:
    """Draws what was measured."""
    figures: dict[str, Figure] = {}
    with style():
        trips = evidence.idle or evidence.loaded
        if trips is not None and fitted.delay is not None:
            figures["rtt"] = _series(trips.what, fitted.delay)
            figures["rtt-cdf"] = _distribution(trips.what, fitted.delay)
        if fitted.loss is not None and fitted.loss.runs:
            figures["loss-runs"] = _runs(fitted.loss)
        if evidence.capacity or evidence.reached:
            figures["throughput"] = _throughput(evidence, fitted.rate_bps)
        return [path for name, drawn in figures.items() for path in save(drawn, directory, name)]


def _series(trips: RoundTrips, delay: Delay) -> Figure:
    """Draws the measurement above one realisation of the fitted process at the same times."""
    drawn = figure(3.2)
    above, below = drawn.subplots(2, 1, sharex=True, sharey=True)
    thin = slice(None, None, -(-len(trips.time_s) // MOST_POINTS))
    time = trips.time_s[thin]
    dots = {"linestyle": "", "marker": ".", "markersize": 2}
    above.plot(time, trips.rtt_s[thin] * 1e3, color=MEASURED, **dots)
    below.plot(time, one_course(time, delay) * 1e3, color=FITTED, **dots)
    above.set_title("measured", loc="left", pad=3, fontweight="bold")
    course = "fitted, one realisation; spikes and stalls omitted"
    below.set_title(
        "like no log-normal: replayed as measured" if delay.unlike else course,
        loc="left",
        pad=3,
        fontweight="bold",
    )
    if trips.rtt_s.max() > 10 * np.median(trips.rtt_s):
        above.set_yscale("log")
    else:
        above.set_ylim(bottom=0)
    below.set_xlabel("time [s]")
    drawn.supylabel("round trip [ms]", fontsize=8)
    return drawn


def one_course(time: Floats, delay: Delay) -> Floats:
    """Returns round trips of the fitted process at these times; always the same realisation."""
    varies = delay.variation
    if delay.unlike:
        return np.full(len(time), np.nan)
    if delay.steps is not None:
        drawn = np.random.default_rng(1).random(len(time))
        return delay.least_s + delay.steps.quantiles(drawn)
    if varies is None or len(time) == 0:
        return np.full(len(time), delay.base_s.best)
    fresh = np.random.default_rng(1).standard_normal(len(time))
    steps = np.concatenate(([0.0], np.maximum(np.diff(time), 0.0))) / varies.correlation.interval_s
    memory = varies.correlation.used**steps
    score = np.empty(len(time))
    last = fresh[0]
    for place, (kept, new) in enumerate(zip(memory, fresh, strict=True)):
        last = kept * last + math.sqrt(1 - kept**2) * new
        score[place] = last
    return delay.base_s.best + np.exp(varies.mu + varies.sigma * score)


def _distribution(trips: RoundTrips, delay: Delay) -> Figure:
    drawn = figure(2.6)
    axes = drawn.subplots()
    ordered = np.sort(trips.rtt_s)
    share = np.arange(1, len(ordered) + 1) / len(ordered)
    axes.plot(ordered * 1e3, share, color=MEASURED, drawstyle="steps-post", label="measured")
    right = max(float(np.quantile(ordered, 0.995)), delay.base_s.best * 1.02)
    grid = np.linspace(0.98 * delay.base_s.best, right, 400)
    axes.plot(grid * 1e3, _fitted(grid, delay), color=FITTED, ls=(0, (5, 1.5)), label="fitted")
    axes.set(
        xlabel="round trip [ms]", ylabel="share of probes", xlim=(grid[0] * 1e3, right * 1e3), ylim=(0, 1.02)
    )
    axes.legend(loc="lower right")
    return drawn


def _fitted(rtt: Floats, delay: Delay) -> Floats:
    varies: Variation | None = delay.variation
    if delay.unlike:
        return np.full(len(rtt), np.nan)
    if delay.steps is not None:
        return delay.steps.cumulative(rtt - delay.least_s)
    if varies is None:
        return np.where(rtt >= delay.base_s.best, 1.0, 0.0)
    return varies.above.cumulative(rtt - delay.base_s.best)


def _runs(loss: Loss) -> Figure:
    """Draws the frequency of loss runs by length, measured and modelled."""
    drawn = figure(2.4)
    axes = drawn.subplots()
    longest = min(MOST_RUNS, max(len(loss.runs), 3))
    lengths = np.arange(1, longest + 1)
    counts = np.zeros(longest)
    counts[: min(longest, len(loss.runs))] = loss.runs[:longest]
    chain = loss.chain or Chain(0.5, 0.5, loss.share.best, loss.share.best)
    axes.bar(lengths - 0.2, counts, 0.4, color=MEASURED, label="measured")
    axes.bar(
        lengths + 0.2, expected_runs(chain, loss.n, longest), 0.4, color=FITTED, label=f"fitted: {loss.model}"
    )
    axes.set(xlabel="packets lost in a row", ylabel="how often", xticks=lengths, xlim=(0.4, longest + 0.6))
    if len(loss.runs) > longest:
        rest = sum(loss.runs[longest:])
        axes.text(1, 0.5, f"{rest} longer", transform=axes.transAxes, ha="right", color=GREY)
    axes.legend()
    return drawn


def expected_runs(chain: Chain, n: int, longest: int) -> Floats:
    """Returns the expected number of runs of 1 to `longest` losses among `n` packets."""
    change = np.array([[1 - chain.to_bad, chain.to_bad], [chain.to_good, 1 - chain.to_good]])
    loss = np.array([chain.good_loss, chain.bad_loss])
    state = np.array([1 - chain.bad_share, chain.bad_share]) * (1 - loss) @ change
    counts = np.empty(longest)
    for place in range(longest):
        state = state * loss @ change
        counts[place] = n * float(state @ (1 - loss))
    return counts


def _throughput(evidence: Evidence, rate_bps: float) -> Figure:
    shown = [
        (way, found.what, found.what.is_capacity)
        for way in WAYS[:2]
        if (found := evidence.capacity.get(way) or evidence.reached.get(way)) is not None
    ]
    drawn = figure(0.6 + 1.5 * len(shown))
    panels = drawn.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    scale, unit = rate_scale([float(np.quantile(what.rate_bps, 0.9)) for _, what, _ in shown])
    for panel, (way, what, is_capacity) in zip(panels, shown, strict=True):
        time, bps = _thinned(what)
        panel.plot(time, bps / scale, color=MEASURED, drawstyle="steps-post", lw=0.7)
        title = "capacity, replayed as recorded" if is_capacity else "reached; dashed: the fitted rate"
        panel.set_title(f"{there(way)}: {title}", loc="left", pad=3, fontweight="bold")
        if not is_capacity and way == "forward":
            panel.axhline(rate_bps / scale, color=FITTED, ls=(0, (5, 1.5)))
        panel.set_ylim(bottom=0)
    panels[-1].set_xlabel("time [s]")
    drawn.supylabel(f"rate [{unit}]", fontsize=8)
    return drawn


def _thinned(what: Throughput) -> tuple[Floats, Floats]:
    """Returns means over stretches of intervals, so that few enough points remain."""
    size = -(-len(what.rate_bps) // MOST_POINTS)
    starts = np.arange(0, len(what.rate_bps), size)
    span = np.add.reduceat(what.interval_s, starts)
    bits = np.add.reduceat(what.rate_bps * what.interval_s, starts)
    return what.time_s[starts], bits / np.maximum(span, 1e-12)
