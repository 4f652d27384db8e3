"""Looks for changes of level every 15 s, as Starlink assigns satellites anew.

The assignments change at 12, 27, 42 and 57 s of each minute (Tanveer et al., "Making Sense of
Constellations", CoNEXT Companion 2023); losses bunch there (Kassem et al., "A Browser-side View of Starlink
Connectivity", IMC 2022).

Null hypothesis: what changes has no phase in common, 15 s long. How much the level changes at each moment,
the medians of the 5 s before and behind compared, is ranked and cut into slots of 15 s; the statistic is
the highest mean over all slots at one phase. Under the null hypothesis each slot may be turned by a phase
of its own. The probability is the share of such random turns that reach the statistic (a permutation test,
which needs no distribution and allows for correlation within a slot), counted until ten did (Besag and
Clifford 1991).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from airtcp.fit.kinds.verdict import SURE, Verdict
from airtcp.fit.measurement import Fates, Flags, Floats

PERIOD_S = 15.0
OF_THE_DAY_S = 12.0
"""The phase of Starlink's assignments in the time of day."""
LEVEL_S = 5.0
"""The length of time that shows a level."""
FEW_SLOTS = 12
MOST_SLOTS = 240
"""An hour's; more are not looked at."""
STEPS, FINE_STEPS = 15, 30
"""Phases that are told apart: pings once a second, and more often."""
TURNS, AT_ONCE, REACHED = 3999, 100, 10
"""Random turns at most, and at a time; and how many of them that reach the statistic are enough."""
NEAR_S = 1.5
"""What is as near to a change belongs to it."""
FEW_BURSTS = 4


@dataclass(frozen=True)
class Slots:
    """Levels that change every 15 s."""

    phase_s: float
    """Of the changes, in the log's time."""
    is_of_the_day: bool | None
    """Whether that is Starlink's phase in the time of day; None if the log has none."""
    lost_s: float = 0.0
    """How long everything is lost at a change, on average; 0 if losses do not bunch there."""

    def at_changes(self, time_s: Floats) -> Flags:
        """Returns which of these times are near a change."""
        after = (time_s - self.phase_s + NEAR_S) % PERIOD_S
        near: Flags = after <= 2 * NEAR_S
        return near


def find_slots(
    time: Floats, rtt: Floats, *, began_s: float | None, fates: Fates | None
) -> tuple[Verdict, Slots | None]:
    """Returns the verdict on Starlink, and the slots if there are any."""
    used = time - time[0] <= MOST_SLOTS * PERIOD_S
    time, rtt = time[used], rtt[used]
    spacing = float(np.median(np.diff(time, append=time[-1])))
    slots = (time[-1] - time[0]) / PERIOD_S
    if spacing > 1.5 * PERIOD_S / STEPS:
        return _untold(
            f"probes {spacing:.3g} s apart do not show changes every 15 s; one a second would."
        ), None
    if slots < FEW_SLOTS + 1:
        return _untold(
            f"{slots * PERIOD_S:.0f} s are too short to show changes every 15 s; ten minutes would."
        ), None
    steps = FINE_STEPS if spacing <= PERIOD_S / FINE_STEPS else STEPS
    level = _level(np.floor((time - time[0]) / PERIOD_S * steps).astype(np.int64), rtt)
    changes = _changes(level, steps)
    p = _p(changes)
    if p > SURE:
        return Verdict("Starlink", "none", p, "levels do not change every 15 s."), None
    if not _has_15_s(changes):
        return Verdict("Starlink", "none", p, "levels change with a period, but it is not 15 s."), None
    phase_s = float(time[0] + _phase(level, steps) * PERIOD_S / steps) % PERIOD_S
    is_of_the_day = None
    if began_s is not None:
        apart = (began_s + phase_s - OF_THE_DAY_S + PERIOD_S / 2) % PERIOD_S - PERIOD_S / 2
        is_of_the_day = abs(apart) <= NEAR_S
    found = _with_losses(Slots(phase_s, is_of_the_day), fates)
    return Verdict("Starlink", "perhaps" if is_of_the_day is False else "sure", p, _why(found)), found


def _untold(why: str) -> Verdict:
    return Verdict("Starlink", "untold", None, why)


def _why(found: Slots) -> str:
    when = {
        True: ", at 12, 27, 42 and 57 s of each minute, as Starlink's assignments do",
        False: "; but not at 12, 27, 42 and 57 s of each minute, as Starlink's assignments do",
        None: "; the log has no time of day, which would show whether it is that of Starlink's assignments",
    }[found.is_of_the_day]
    losses = f", and losses bunch there, for {found.lost_s:.2g} s on average" if found.lost_s else ""
    return f"levels change every 15 s{losses}{when}."


def _changes(level: Floats, steps: int) -> Floats:
    """Returns the rank of each change, from 0 to 1, a row for each slot."""
    window = round(LEVEL_S / PERIOD_S * steps)
    middle = np.median(np.lib.stride_tricks.sliding_window_view(level, window), axis=1)
    change = np.abs(middle[window:] - middle[:-window])
    slots = len(change) // steps
    return _ranks(change[: slots * steps]).reshape(slots, steps)


def _phase(level: Floats, steps: int) -> int:
    """Returns the step at which slots begin that differ least within."""
    slots = len(level) // steps - 1

    def within(begin: int) -> float:
        each = level[begin : begin + slots * steps].reshape(slots, steps)
        return float(np.abs(each - np.median(each, axis=1, keepdims=True)).mean())

    return min(range(steps), key=within)


def _ranks(values: Floats) -> Floats:
    """Returns ranks as shares. Equal values have one in common, as in logs of a coarse grain."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = ((np.cumsum(count) - count / 2) / len(values))[place.ravel()]
    return ranks


def _level(place: np.ndarray[tuple[int], np.dtype[np.int64]], rtt: Floats) -> Floats:
    """Returns the median round trip of each place; that of the one before if there is none."""
    order = np.lexsort((rtt, place))
    place, rtt = place[order], rtt[order]
    known, first, count = np.unique(place, return_index=True, return_counts=True)
    middle = rtt[first + count // 2]
    level: Floats = middle[np.searchsorted(known, np.arange(known[-1] + 1), side="right") - 1]
    return level


def _p(changes: Floats) -> float:
    random = np.random.default_rng(1)
    slots, steps = changes.shape
    row, statistic = np.arange(slots)[:, None], changes.mean(axis=0).max()
    reached = turns = 0
    while turns < TURNS and reached < REACHED:
        turn = random.integers(0, steps, (AT_ONCE, slots, 1))
        turned = changes[row, (np.arange(steps) + turn) % steps].mean(axis=1)
        reached += int((turned.max(axis=1) >= statistic).sum())
        turns += AT_ONCE
    return (1 + reached) / (1 + turns)


def _has_15_s(changes: Floats) -> bool:
    """Returns whether no other period explains the changes: neither a shorter one, of which a slot would
    have several, nor a multiple, which would pass over slots."""
    at = changes.mean(axis=0)
    usual, peak, step, steps = float(at.mean()), float(at.max()), int(at.argmax()), len(at)
    shorter = any(
        all(at[(step + round(part * steps / of)) % steps] > (usual + peak) / 2 for part in range(1, of))
        for of in (2, 3)
    )
    every = [changes[of::each, step] for each in (2, 3) for of in range(each)]
    return not shorter and not any(_is_passed_over(slots, usual, peak) for slots in every)


def _is_passed_over(slots: Floats, usual: float, peak: float) -> bool:
    """Returns whether these slots have no change, surely; ranks are uniform."""
    deviation, mean = (12 * len(slots)) ** -0.5, float(slots.mean())
    return mean < usual + (peak - usual) / 4 and mean < peak - 3 * deviation


def _with_losses(found: Slots, fates: Fates | None) -> Slots:
    """Adds whether bursts of losses begin at changes more often than by chance (a binomial test)."""
    from scipy.special import bdtrc  # noqa: PLC0415 slow to import

    if fates is None or fates.sent_s is None or fates.interval_s is None or not fates.lost.any():
        return found
    lost_s = fates.sent_s[fates.lost]
    begins = np.diff(lost_s, prepend=-np.inf) > 2 * NEAR_S
    near = int(found.at_changes(lost_s[begins]).sum())
    by_chance = bdtrc(max(near - 1, 0), int(begins.sum()), 2 * NEAR_S / PERIOD_S)
    if near < FEW_BURSTS or by_chance > SURE:
        return found
    changes = float(fates.sent_s[-1] - fates.sent_s[0]) / PERIOD_S
    at_changes = int(found.at_changes(lost_s).sum())
    return replace(found, lost_s=at_changes * fates.interval_s / changes)
