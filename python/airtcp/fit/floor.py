"""The floor of round trips: where a distribution begins of which the least value is known."""

from __future__ import annotations

import numpy as np

from airtcp.fit.findings import CONFIDENCE, Value
from airtcp.fit.log_normal import thinned
from airtcp.fit.measurement import Floats

FEW = 20
"""Fewer round trips show no distribution."""
SHARES = np.geomspace(1e-3, 1, 40)
"""How far below the lowest round trip bases are tried, as shares of the farthest."""
FARTHEST = 0.5
"""No base is tried further below the lowest round trip than this share of it."""
LOWEST_SHARE = 0.05
"""Nor further than this share of the round trips is above it, which is what they resolve."""
LOWEST_FEW = 5
CLOCK_STEPS_S = (1e-3, 1e-4, 1e-5)
ROUNDED = 1e-4
"""How far a multiple of a step may be from a whole number."""
FARTHEST_LIKELY = 0.9
STEPS = 120
MOST_USED = 5000
"""Of more round trips, every second one or fewer tell how likely a floor is."""
CHI_SQUARED = 2.705543454095404
"""Twice the loss of logarithmic likelihood at one end of an interval; at the other is the least value."""
ORDER = 20
"""Where nothing is log-normal, as many of the lowest values tell how far below them the floor may be."""


def base_round_trip(rtt: Floats) -> Value:
    """Returns the round trip without any queueing, where a log-normal's quantiles best match the measured
    ones.

    From below, the interval ends where the profile likelihood of a log-normal's shift does, for as many
    independent values as successive ones are worth; from above, at the least value.
    """
    seen = seen_base(rtt)
    if len(rtt) < FEW or float(rtt.max()) == seen.best:
        return seen
    best = _shift(rtt)
    return Value(best, min(best, _least_likely(rtt)), seen.high)


def seen_base(rtt: Floats) -> Value:
    """Returns the least round trip, which is known to half a step of the clock.

    From below, the interval is that of a uniform distribution's end (Robson and Whitlock 1964): densities
    that do not vanish there have no longer one.
    """
    least, step = float(rtt.min()), clock_step(rtt)
    below = least - step / 2
    if len(rtt) > ORDER:
        share = 1 - (1 - CONFIDENCE) ** (1 / (ORDER - 1))
        apart = float(np.partition(rtt, ORDER - 1)[ORDER - 1]) - least
        below -= share / (1 - share) * apart
    return Value(least, max((1 - FARTHEST) * least, below), least + step / 2)


def clock_step(rtt: Floats) -> float:
    """Returns the largest power of ten that all values are multiples of, up to a millisecond; 0 for none."""
    for step in CLOCK_STEPS_S:
        if float(np.abs(rtt / step - np.round(rtt / step)).max()) < ROUNDED:
            return step
    return 0.0


def _least_likely(rtt: Floats) -> float:
    """Returns the lowest base that the round trips do not exclude."""
    least = float(rtt.min())
    nearest = max(clock_step(rtt) / 2, 1e-3 * float(np.median(rtt) - least), 1e-9)
    gaps = np.geomspace(nearest, max(FARTHEST_LIKELY * least, 2 * nearest), STEPS)
    used = rtt[:: -(-len(rtt) // MOST_USED)]
    logs = np.log((used - least)[None, :] + gaps[:, None])
    likelihood = -len(used) / 2 * np.log(logs.var(axis=1) + 1e-300) - logs.sum(axis=1)
    worth = len(rtt) / len(used) * _independent(np.log(used - least + nearest))
    likely = np.flatnonzero(2 * worth * (likelihood.max() - likelihood) <= CHI_SQUARED)
    return least - float(gaps[likely[-1]])


def _independent(values: Floats) -> float:
    """Returns how much of a second moment's information correlated values have of independent ones'."""
    apart = values - values.mean()
    variance = float((apart**2).mean())
    if variance == 0:
        return 1.0
    squared = min(0.98, max(0.0, float((apart[1:] * apart[:-1]).mean()) / variance)) ** 2
    return (1 - squared) / (1 + squared)


def _shift(rtt: Floats) -> float:
    """Returns the greatest base, up to the lowest value, that keeps the probability plot nearly as straight
    as possible.

    The plot's correlation coefficient (Filliben 1975) is flat for nearly symmetric distributions; a tenth of
    its shortfall is not significant. No base is further below the lowest value than the lowest values are
    apart, and none below half of it: packets take time.
    """
    from scipy.special import ndtri  # noqa: PLC0415 slow to import

    values = thinned(rtt)
    least = float(values[0])
    scores = ndtri((np.arange(len(values)) + 0.5) / len(values))
    lowest = float(values[min(len(values) - 1, max(LOWEST_FEW, int(LOWEST_SHARE * len(values))))])
    farthest = max(lowest - least, clock_step(rtt))
    gaps = min(FARTHEST * least, farthest) * SHARES
    floor = 1e-3 * float(np.median(values) - least) + 1e-9
    logs = np.log((values - least + floor)[None, :] + gaps[:, None])
    logs -= logs.mean(axis=1, keepdims=True)
    straight = (logs @ scores) / np.sqrt((logs**2).sum(axis=1) * (scores**2).sum())
    near_best = np.flatnonzero(1 - straight <= 1.1 * (1 - straight.max()))
    return least - float(gaps[near_best[0]])
