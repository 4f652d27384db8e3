"""Writes what is known of the kind of air: a finding, and the keys that it explains better than a
log-normal."""

from __future__ import annotations

from dataclasses import replace

from airtcp.fit.delay import Delay
from airtcp.fit.draft import Draft, Entry, duration, milliseconds, number, percent, table, text
from airtcp.fit.estimates import Estimates
from airtcp.fit.evidence import From
from airtcp.fit.findings import Finding
from airtcp.fit.kinds import Air
from airtcp.fit.kinds.starlink import PERIOD_S, Slots
from airtcp.fit.measurement import RoundTrips
from airtcp.fit.path_replay import NO_JITTER, put_floor
from airtcp.fit.steps import Steps

MOST_NAMED = 4
MOST_STEPS = 20
"""What is farther off is a queue, or an outage."""
NEAR_MEAN = 0.1
"""As for a log-normal, in standard deviations."""


def put_kind(draft: Draft, estimates: Estimates) -> None:
    """Names the kinds of air that are seen, and says why the others are not."""
    if estimates.air is None:
        return
    draft.found.append(kind_of_air(estimates.air))
    slots, lost = estimates.air.slots, sum(of.at_changes for of in estimates.losses.values())
    if slots is not None and lost:
        _put_outages(draft, slots, lost)


def kind_of_air(air: Air) -> Finding:
    shown = " and ".join(f"{verdict.kind}, {verdict.certainty}" for verdict in air.seen) or "none recognised"
    return Finding("kind of air", shown, "", air.text)


def steps_of(estimates: Estimates) -> Steps | None:
    """Returns HARQ's steps if they are as the round trips, whose mean they must have."""
    steps, delay = None if estimates.air is None else estimates.air.steps, estimates.delay
    if steps is None or delay is None or delay.whole is None or delay.levels is not None:
        return None
    if not steps.are_harq or len(steps.counts) > MOST_STEPS:
        return None
    apart = abs(delay.least_s + steps.mean_s - delay.whole.mean.best)
    return steps if apart <= NEAR_MEAN * delay.whole.deviation.best else None


def put_steps(draft: Draft, source: From[RoundTrips], delay: Delay, steps: Steps, own_s: float) -> None:
    """Writes round trips in steps: `own_s` of each is the packets' own time on the link."""
    draft.delay = replace(delay, variation=None, spikes=None, stalls=None, unlike="", steps=steps)
    put_floor(draft, source, delay, own_s)
    named = ", ".join(percent(share, 2) for share in steps.shares[:MOST_NAMED])
    finding = Finding(
        "delay above that",
        f"steps of 8 ms, {named} of the round trips on the first ones",
        "",
        f"HARQ's repetitions. Each step is as wide as in {source.name}; each packet draws its own, and none "
        "overtakes.",
    )
    draft.add("jitter", _ranges(steps), finding)
    draft.reverse.append(Entry("jitter", NO_JITTER))


def _ranges(steps: Steps) -> str:
    shares = [round(float(share), 6) for share in steps.shares]
    # Rounded, they sum to 1.
    shares[0] += 1 - sum(shares)
    ranges = ", ".join(
        table(probability=number(share, 6), low=text(milliseconds(low_s)), high=text(milliseconds(high_s)))
        for share, low_s, high_s in zip(shares, steps.lows_s.tolist(), steps.highs_s.tolist(), strict=True)
    )
    return table(distribution=text("table"), ranges=f"[{ranges}]", overtaking="false")


def _put_outages(draft: Draft, slots: Slots, lost: int) -> None:
    finding = Finding(
        "losses when satellites change",
        f"every {duration(PERIOD_S)}, for {number(slots.lost_s, 2)} s on average",
        "",
        f"{lost} packets, which the loss has not; what is in flight at a change is lost.",
    )
    keys = table(period=text(duration(PERIOD_S)), length=text(f"{number(slots.lost_s, 2)}s"), handoff="true")
    draft.add("outages", keys, finding)
