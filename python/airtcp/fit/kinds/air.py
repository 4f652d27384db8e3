"""Asks for each kind of air."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from airtcp.fit.delay import Delay, believable
from airtcp.fit.kinds.lte import find_steps
from airtcp.fit.kinds.starlink import Slots, find_slots
from airtcp.fit.kinds.verdict import FEW, Verdict, told
from airtcp.fit.kinds.wifi import find_repetitions
from airtcp.fit.measurement import Fates, Floats, RoundTrips
from airtcp.fit.radio import Radio
from airtcp.fit.steps import Steps

GRAINS_S = (1e-3, 1e-4, 1e-5, 1e-6)
MANY = 0.5
"""A log has a grain if this share of its values are multiples: `ping` prints three digits, so that long
ones are coarser."""


@dataclass(frozen=True)
class Air:
    """What an idle path's round trips say of the air beneath it."""

    verdicts: tuple[Verdict, ...]
    steps: Steps | None = None
    slots: Slots | None = None

    @property
    def seen(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.verdicts if verdict.is_seen)

    @property
    def text(self) -> str:
        """All verdicts on one line, what is seen first."""
        untold = [verdict for verdict in self.verdicts if verdict.certainty == "untold"]
        others = ", ".join(verdict.kind for verdict in self.verdicts if verdict.certainty == "none")
        lines = [verdict.text for verdict in (*self.seen, *untold)]
        return " ".join([*lines, *([f"No sign of {others}."] if others else [])])


def recognise(
    trips: RoundTrips, delay: Delay, fates: Fates | None, *, in_order: bool, radio: Radio | None
) -> Air | None:
    """Returns None if the radio does not say what it is, and round trips are too few, or not of single
    packets of one length."""
    found = _tested(trips, delay, fates, in_order=in_order)
    if radio is None:
        return found
    others = () if found is None else tuple(each for each in found.verdicts if each.kind != radio.kind)
    verdicts = (told(radio), *others)
    return Air(verdicts) if found is None else replace(found, verdicts=verdicts)


def _tested(trips: RoundTrips, delay: Delay, fates: Fates | None, *, in_order: bool) -> Air | None:
    time, rtt, _ = believable(trips)
    is_mixed = fates is not None and fates.sizes is not None and int((~fates.lost).sum()) == len(trips.rtt_s)
    if len(rtt) < FEW or trips.least_s is not None or is_mixed:
        return None
    idle = rtt if delay.levels is None else rtt[delay.levels.is_idle]
    grain_s = grain(idle)
    loss = 0.0 if fates is None else float(fates.lost.mean())
    wifi = find_repetitions(idle, grain_s, loss=loss, in_order=in_order)
    lte, steps = find_steps(idle, grain_s)
    starlink, slots = find_slots(time, rtt, began_s=trips.began_s, fates=fates)
    return Air((wifi, lte, starlink), steps, slots)


def grain(rtt: Floats) -> float:
    """Returns the step in which most of the values are written; 0 for none."""
    for step in GRAINS_S:
        in_steps = rtt / step
        if float(np.mean(np.abs(in_steps - np.round(in_steps)) < 1e-4)) > MANY:
            return step
    return 0.0
