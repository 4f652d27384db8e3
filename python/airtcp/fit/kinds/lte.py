"""Looks for HARQ's steps of 8 ms, as an LTE cell repeats blocks that could not be read.

HARQ's round trip is 8 ms in FDD (3GPP TS 36.213 §8, §9.1.2: the answer to a block comes four subframes
later, and its repetition four after that). What else varies, mostly the wait for a scheduling request's
turn, widens each step; if that is as long as the step or longer, as with requests every 10 ms, the gaps are
filled, and nothing can be seen.

Null hypothesis: the round trips have one mode (`modes.py`); the gaps are those in front of multiples of 8
ms above the least, all taken together, each with the lesser of its neighbours. Tried for several widths of
a step, with Bonferroni's correction.
"""

from __future__ import annotations

import numpy as np

from airtcp.fit.kinds.modes import as_many
from airtcp.fit.kinds.verdict import SURE, Verdict
from airtcp.fit.measurement import Floats
from airtcp.fit.steps import Counts, Steps, in_steps

STEP_S = 0.008
WIDTHS = (2 / 8, 3 / 8, 4 / 8, 5 / 8, 6 / 8)
"""Of a step's values, as shares of the step."""
MOST = 8
"""Steps above the least round trip that are looked at."""
ALSO = 0.05
"""Probability of the second gap below which it counts as seen."""
APART_S = 0.0005
"""The first step may differ from 8 ms by this much, and by two standard errors."""


def find_steps(rtt: Floats, grain_s: float) -> tuple[Verdict, Steps | None]:
    """Returns the verdict on LTE, and the steps if there are any."""
    above = rtt - rtt.min() + grain_s / 2
    step = np.floor(above / STEP_S).astype(np.int64)
    phase = above / STEP_S - step
    p, width, second = min(_gaps(step, phase, width) for width in WIDTHS)
    p = min(1.0, p * len(WIDTHS))
    if p > SURE:
        return Verdict("LTE", "none", p, "round trips do not stand in steps of 8 ms, as HARQ makes."), None
    if not _are_8_ms_apart(above, step):
        return Verdict("LTE", "none", p, "round trips stand in steps, but not of 8 ms, as HARQ makes."), None
    found = f"round trips stand in steps of 8 ms, as HARQ makes, each up to {8 * width:.0f} ms wide"
    if second > ALSO:
        why = f"{found}; but a second step is not seen, which a longer log would show."
        return Verdict("LTE", "perhaps", p, why), None
    steps = in_steps(above - grain_s / 2, step)
    what = "" if steps.are_harq else "; so many on the later ones are no repetitions of HARQ alone"
    return Verdict("LTE", "sure", p, f"{found}{what}."), steps


def _gaps(step: Counts, phase: Floats, width: float) -> tuple[float, float, float]:
    """Returns the probability of all gaps, the width, and the probability of the gaps from the second
    on."""
    near = step <= MOST
    on = np.bincount(step[near & (phase < width)], minlength=MOST + 1)
    between = np.bincount(step[near & (phase >= width)], minlength=MOST + 1)[:-1]
    beside = np.minimum(on[:-1], on[1:])
    both = as_many([beside.sum(), beside[1:].sum()], [between.sum(), between[1:].sum()], width)
    return float(both[0]), width, float(both[1])


def _are_8_ms_apart(above: Floats, step: Counts) -> bool:
    first, second = above[step == 0], above[step == 1]
    error = np.sqrt(first.var() / len(first) + second.var() / len(second)) if len(second) else np.inf
    return bool(len(second)) and abs(float(second.mean() - first.mean()) - STEP_S) <= APART_S + 2 * float(
        error
    )
