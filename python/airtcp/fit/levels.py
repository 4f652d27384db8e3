"""Tells idle from loaded stretches in one series of round trips.

A transfer that begins while the path is probed fills its queue: round trips rise from one narrow level and
stay above it. Chance alternates too fast for that, and leaves no gap between the levels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from airtcp.fit.measurement import Flags, Floats

FEW = 40
"""Fewer round trips show no levels."""
WINDOW = 20
"""Round trips of a calm stretch, from which the idle level is taken."""
SMOOTHED = 5
"""Round trips whose median stands for the one in their middle."""
LEAST_SHARE = 0.05
"""Rarer levels are episodes; so are those of less than a window."""
STRETCH = 40
"""The least number of round trips between two changes of level, on average."""
LEAST_RATIO = 1.3
LEAST_APART_S = 0.002
"""Levels differ by this much at least, and by that ratio."""
GAP = 0.05
"""Round trips just above the idle level, as a share of those within it, over an equal range: at most this."""


@dataclass(frozen=True)
class Level:
    """One of the two."""

    share: float
    """Of the round trips."""
    mean_s: float
    deviation_s: float


@dataclass(frozen=True)
class Levels:
    """An idle path and a loaded one in one series."""

    idle: Level
    loaded: Level
    changes: int
    begins_s: float
    """When the loaded level was first met."""
    is_idle: Flags
    """Of each round trip, shape (n,)."""


def find_levels(time: Floats, rtt: Floats) -> Levels | None:
    """Returns the two levels; None if there is one. Times must be ascending."""
    if len(rtt) < FEW:
        return None
    smooth = _running_median(rtt)
    limit, width = _idle_limit(rtt, smooth)
    is_idle: Flags = smooth <= limit
    share = float(is_idle.mean())
    changes = int(np.count_nonzero(np.diff(is_idle.astype(np.int8))))
    rarer = max(LEAST_SHARE, WINDOW / len(rtt))
    if not rarer <= share <= 1 - rarer or changes > len(rtt) / STRETCH:
        return None
    idle, loaded = rtt[is_idle], rtt[~is_idle]
    middle, above = float(np.median(idle)), float(np.median(loaded))
    if above < max(LEAST_RATIO * middle, middle + LEAST_APART_S, middle + 3 * width):
        return None
    # By chance, round trips just above a limit are as many as just below it.
    between = float(np.mean((smooth > limit) & (smooth <= limit + width)))
    if between > GAP * share:
        return None
    begins = float(time[int(np.argmin(is_idle))] - time[0])
    return Levels(_level(idle, share), _level(loaded, 1 - share), changes, begins, is_idle)


def _idle_limit(rtt: Floats, smooth: Floats) -> tuple[float, float]:
    """Returns up to where the idle level goes, and how wide it is."""
    blocks = rtt[: len(rtt) // WINDOW * WINDOW].reshape(-1, WINDOW)
    calmest = blocks[int(np.argmin(np.median(blocks, axis=1)))]
    low, high = np.quantile(calmest, [0.05, 0.95])
    width = max(float(high - low), 0.05 * float(low))
    near = smooth[smooth <= high + width]
    top = float(near.max()) if len(near) else float(high)
    return max(top, float(high)) + width / 2, width


def _running_median(values: Floats) -> Floats:
    half = SMOOTHED // 2
    padded = np.pad(values, half, mode="edge")
    answer: Floats = np.median(np.lib.stride_tricks.sliding_window_view(padded, SMOOTHED), axis=1)
    return answer


def _level(values: Floats, share: float) -> Level:
    return Level(share, float(values.mean()), float(values.std()))
