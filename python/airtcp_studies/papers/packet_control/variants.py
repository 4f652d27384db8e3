"""What was tried on the gains of P1 and P2, one deviation at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from airtcp.facts.stats import Estimate
from airtcp_studies.frame import Case, Context, Row, Tried, gain_of, info
from airtcp_studies.frame.rows import TOLERANCES
from airtcp_studies.papers.packet_control.path import (
    DOUBLE_JITTER,
    NO_JITTER,
    NONE,
    VARYING,
    filtered,
    goodput,
)


@dataclass(frozen=True)
class Variant:
    """One deviation from the experiment."""

    name: str
    keys: str = ""
    """Keys of the end hosts' stack."""
    sets: Mapping[str, object] = field(default_factory=dict)


ALL_ON_THE_WAY_THERE = {
    "link.wireless.jitter": DOUBLE_JITTER,
    "link.wireless.reverse.jitter": NO_JITTER,
}
VARIANTS = (
    Variant("60 s", sets={"duration": "60s"}),
    Variant("all variation of Table I's round trip on the way there", sets=ALL_ON_THE_WAY_THERE),
    Variant("the way back without variation", sets={"link.wireless.reverse.jitter": NO_JITTER}),
    Variant("receiver's window of 12 segments", ":receive_window=12000B"),
    Variant("receiver's window of 40 segments", ":receive_window=40000B"),
    Variant("receiver's window of 60 segments", ":receive_window=60000B"),
    Variant("delayed ACKs", ":ack_every=2"),
    Variant("no limited transmit", ":limited_transmit=false"),
    Variant("one fast retransmit a window, ns-2.35's", ":recovery=reno"),
    Variant("NewReno", ":recovery=newreno"),
    Variant("Tahoe", ":recovery=tahoe"),
    Variant("wireless queue of 10 packets", sets={"link.wireless.queue.packets": 10}),
)


FLAVORS = ("one fast retransmit a window, ns-2.35's", "NewReno", "Tahoe")


def what_was_tried(ctx: Context, sets: Mapping[str, object], threshold: int) -> list[Tried]:
    """Returns the gain of a threshold, with one deviation at a time."""
    variants = ctx.pick(VARIANTS, quick=VARIANTS[:2])
    term = filtered(threshold).removeprefix(NONE)
    schemes = {v.name: (f"{NONE}{v.keys}", f"{NONE}{v.keys}{term}") for v in variants}
    found = ctx.sweep(
        {v.name: Case(VARYING, schemes[v.name], {**sets, **v.sets}, seeds=20) for v in variants}
    )

    def gained(name: str) -> Estimate:
        without, with_it = (goodput(found[name], scheme) for scheme in schemes[name])
        return gain_of(with_it, without)

    return [Tried(v.name, gained(v.name)) for v in variants]


def single_runs(gains: Sequence[float], threshold: int, paper: float) -> list[Row]:
    """Returns what single runs gain, as the paper shows them."""
    low, high = ((1 + way * TOLERANCES["gain"]) * paper for way in (-1, 1))
    within = 100 * sum(low <= each <= high for each in gains) / len(gains)
    return [
        info(f"largest gain of a single run with threshold {threshold}", max(gains), "%", paper=paper),
        info(f"smallest gain of a single run with threshold {threshold}", min(gains), "%"),
        info("single runs whose gain lies within the tolerance", within, "%"),
    ]
