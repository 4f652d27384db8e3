"""Looks for the repetitions of Wi-Fi frames.

A frame that is not acknowledged is sent again after the acknowledgment's timeout and a random number of
slots out of a window that doubles (IEEE 802.11 DCF). Round trips then have a peak at the floor, a notch as
long as the timeout and the frame, and behind it those that needed one repetition, two, and so on, each
rarer than the one before. Frames that waited for those of other stations are later by an interframe space
and some slots, which leaves a notch, too, or fills that of the repetitions.

Null hypothesis: behind the peak at the floor, the density of round trips rises no more than behind a queue
of equal packets. One with one mode does not rise at all (`modes.py`). The waiting times of M/D/1 rise as
exp(λw) up to one packet's time D, so by exp(ρ) at most, and 1 − ρ of the packets, those in the peak, do not
wait. A notch is looked for from the length of a few slots to some ms.
"""

from __future__ import annotations

import numpy as np

from airtcp.fit.kinds.modes import as_many
from airtcp.fit.kinds.verdict import SURE, Verdict
from airtcp.fit.measurement import Floats

ENDS_S = 7e-5 * 2 ** (np.arange(24) / 4)
"""Where a notch may end: no repetition is sooner than an interframe space and an acknowledgment take, and
none of a frame takes longer than some 3 ms."""
NOTCHES = np.array([0.25, 0.4, 0.55, 0.75])
"""How much of what is before its end is notch, and not peak."""
BEHIND = np.array([1, 2, 4])
"""How many times as long as the notch the part behind it is that is looked at, up to"""
LONGEST_S = 6e-3
"""this above the least: LTE's steps are farther."""
TRIED = 20
"""Places overlap. Of series with one mode (uniform, exponential, half normal, with and without a peak; 200
to 3000 values; grains from 1 µs to 0.1 ms), the least of all probabilities was as that of 4 to 19 places
that do not."""
COARSE_S = 1e-3
"""Repetitions are within one grain of such a log."""
RARE_LOSS = 0.02
"""Repetitions leave few losses."""


def find_repetitions(rtt: Floats, grain_s: float, *, loss: float, in_order: bool) -> Verdict:
    """Returns the verdict on Wi-Fi."""
    if grain_s >= COARSE_S:
        why = f"the log's grain is {grain_s * 1e3:g} ms, and a frame sent again takes less."
        return Verdict("Wi-Fi", "untold", None, why)
    above = np.sort(rtt - rtt.min() + grain_s / 2)
    peak, begins, ends = _places(grain_s)
    low, middle, high = (np.searchsorted(above, edge) for edge in (peak, begins, ends))
    before = as_many(low, middle - low, peak / begins)
    weight = np.exp(1 - low / len(above)) * (ends - begins)
    behind = as_many(high - middle, middle - low, weight / (weight + begins - peak))
    p = np.maximum(before, behind)
    best = int(p.argmin())
    least = min(1.0, float(p[best]) * TRIED)
    if least > SURE:
        return _nothing(grain_s, least)
    after_ms = begins[best] * 1e3
    found = (
        f"{after_ms:.2g} ms above the least, behind a notch, are those of frames sent again or after others"
    )
    missing = [
        *(["they are as many as those without"] if low[best] <= high[best] - middle[best] else []),
        *(["more is lost than repetitions leave"] if loss > RARE_LOSS else []),
        *([] if in_order else ["some overtook others"]),
    ]
    if missing:
        return Verdict("Wi-Fi", "perhaps", least, f"{found}; but {' and '.join(missing)}.")
    return Verdict("Wi-Fi", "sure", least, f"{found}.")


def _places(grain_s: float) -> tuple[Floats, Floats, Floats]:
    """Returns where peaks, notches and what is behind them end, all between two values of the log."""
    ends, notches, behind = (each.ravel() for each in np.meshgrid(ENDS_S, NOTCHES, BEHIND))
    notch = ends * notches
    places = np.array([ends - notch, ends, ends + notch * behind])
    if grain_s > 0:
        places = np.unique(np.round(places / grain_s), axis=1) * grain_s
    some = (places[0] > 0) & (np.diff(places, axis=0) > 0).all(axis=0) & (places[2] <= LONGEST_S)
    peak, begins, after = places[:, some]
    return peak, begins, after


def _nothing(grain_s: float, p: float) -> Verdict:
    if grain_s >= ENDS_S[0]:
        why = f"the log's grain is {grain_s * 1e3:g} ms, and a frame sent again may take no more."
        return Verdict("Wi-Fi", "untold", p, why)
    return Verdict(
        "Wi-Fi", "none", p, "no frames sent again stand out; other stations' frames would hide them."
    )
