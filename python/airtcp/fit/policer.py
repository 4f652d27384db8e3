"""Finds a policer in the fates of a transfer's packets, by their times alone.

A policer's bucket is known at each packet: tokens flow in at its rate, and what passes takes its bytes out.
It drops what finds too few of them, and nothing else. A full queue drops in the same way, but before that it
delays by as much as it holds; a policer delays nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from airtcp.fit.bottleneck import Bottleneck, Settled
from airtcp.fit.evidence import Evidence, shown
from airtcp.fit.findings import Value
from airtcp.fit.floor import seen_base
from airtcp.fit.measurement import Fates, Flags, Floats, Measurement, RoundTrips

MOST_PACKETS = 20_000
"""Of a longer transfer, the first."""
FEW_LOST = 10
"""Fewer losses may look like anything."""
RATES = np.geomspace(0.92, 1.8, 96)
"""Rates that are tried, in multiples of what passed between the first loss and the last."""
BURSTS = np.geomspace(1.5, 300, 24)
"""Buckets that are tried, in packets."""
NEARER = np.linspace(-1, 1, 17)
"""Steps around the most likely, as shares of the first ones."""
MOST_LIKELY = 6
"""So many are looked at nearer: the best of all may lie between two that are not the first."""
EXPLAINS = 0.8
"""A policer would drop this share of what was lost, and this share of what it would drop was lost."""
AS_WELL = 0.5
"""A bucket whose share is at least this is possible, too."""
FLAT = 0.25
"""A queue that holds as much as the bucket would delay what meets it full by more than this share of that."""
SHORT = 0.9
"""Tokens for this share of a packet may be enough: times and lengths are not exact."""


@dataclass(frozen=True)
class Policer:
    """A token bucket."""

    rate_bps: Value
    """Between the rates of all buckets that are possible."""
    burst_bytes: float
    explained: int
    """Losses that it explains."""
    lost: int
    """All losses."""


@dataclass(frozen=True)
class Examined:
    """What the packets' times and fates say of a policer."""

    policer: Policer | None = None
    """The one that explains them."""
    is_possible: bool = True
    """Whether there may be one: False if no bucket explains even half of the losses."""


def examined(evidence: Evidence, source: Measurement) -> Examined:
    """Returns what the packets of the transfer of `source` tell."""
    fates, trips = evidence.fates.get("forward"), source.round_trips
    if fates is None or fates.source is not source or trips is None:
        return Examined()
    return examine(fates.what, trips)


def settled_policer(found: Policer, evidence: Evidence, source: Measurement) -> Settled:
    """Returns the path that the transfer of `source` shows if that policer dropped its packets."""
    fates, trips = evidence.fates["forward"], source.round_trips
    assert trips is not None
    least, bits = seen_base(trips.rtt_s), 8 * (fates.what.packet_bytes or 0.0)
    path = Bottleneck("policer", found.rate_bps.best, least.best, 0.0, burst_bytes=found.burst_bytes)
    # The link is at least as fast as the policer.
    low_s, best_s = (
        max(least.best / 2, end - bits / bps)
        for end, bps in ((least.low or least.best, path.rate_bps), (least.best, path.link_bps))
    )
    path = path.with_(base_s=best_s)
    how = (
        f"A policer of that rate would have dropped {found.explained} of the {found.lost} packets that "
        f"{shown(fates.name)} lost, and hardly any other; and round trips stay as they are."
    )
    low_bps, high_bps = found.rate_bps.low or path.rate_bps, found.rate_bps.high or path.rate_bps
    bases = (low_s, least.high or least.best)
    return Settled(path, ((path, 1.0),), (low_bps, high_bps), bases, 0, how=how)


def examine(fates: Fates, trips: RoundTrips) -> Examined:
    """Looks for the policer that explains what was lost and what was not."""
    if fates.sent_s is None or not fates.packet_bytes or not len(trips.rtt_s):
        return Examined()
    sent_s, lost = fates.sent_s[:MOST_PACKETS], fates.lost[:MOST_PACKETS]
    if int(lost.sum()) < FEW_LOST:
        return Examined()
    first, last = np.flatnonzero(lost)[[0, -1]]
    for_s = float(sent_s[last] - sent_s[first])
    if for_s <= 0:
        return Examined()
    rate = int((~lost[first:last]).sum()) / for_s
    first_ones = _Buckets(sent_s, lost, *_pairs(RATES * rate, BURSTS))
    likely = np.argsort(-first_ones.likely)[:MOST_LIKELY, None]
    near = _pairs(*(each**NEARER for each in (RATES[1] / RATES[0], BURSTS[1] / BURSTS[0])))
    rates, bursts = first_ones.rates[likely] * near[0], first_ones.bursts[likely] * near[1]
    buckets = _Buckets(sent_s, lost, rates.ravel(), bursts.ravel())
    best = int(np.argmax(buckets.likely))
    alike = [(each, each.explains >= AS_WELL) for each in (buckets, first_ones)]
    is_possible = any(chosen.any() for _, chosen in alike)
    if buckets.explains[best] < EXPLAINS:
        return Examined(None, is_possible)
    if _delay_at_losses_s(sent_s[lost], trips) > FLAT * float(buckets.bursts[best] / buckets.rates[best]):
        return Examined()
    low = min(each.rates[chosen].min(initial=np.inf) for each, chosen in alike)
    high = max(each.true_rates[chosen].max(initial=0.0) for each, chosen in alike)
    bits = 8 * fates.packet_bytes
    found = Value(*(bits * float(each) for each in (buckets.true_rates[best], low, high)))
    burst = fates.packet_bytes * float(buckets.bursts[best])
    return Examined(Policer(found, burst, int(buckets.empty_lost[best]), int(lost.sum())))


def _pairs(rates: Floats, bursts: Floats) -> tuple[Floats, Floats]:
    """Returns each rate with each size."""
    rates, bursts = np.meshgrid(rates, bursts)
    return rates.ravel(), bursts.ravel()


class _Buckets:
    """Buckets of these rates and sizes, in packets, on their way through a transfer."""

    def __init__(self, sent_s: Floats, lost: Flags, rates: Floats, bursts: Floats) -> None:
        self.rates, self.bursts = rates, bursts
        level = self.bursts.copy()
        self.empty, self.empty_lost = np.zeros(len(level)), np.zeros(len(level))
        """Packets that found too few tokens, and how many of those were lost."""
        lent = np.zeros(len(level))
        gaps_s = np.maximum(0.0, np.diff(sent_s, prepend=sent_s[:1]))
        for gap_s, is_lost in zip(gaps_s.tolist(), lost.tolist(), strict=True):
            np.minimum(level + self.rates * gap_s, self.bursts, out=level)
            is_short = level < SHORT
            self.empty += is_short
            if is_lost:
                self.empty_lost += is_short
            else:
                level -= 1.0
                lent -= np.minimum(level, 0.0)
                np.maximum(level, 0.0, out=level)
        self.true_rates = self.rates + lent / max(1e-9, float(sent_s[-1] - sent_s[0]))
        """Those at which nothing would have had to be lent to packets that passed with too few tokens."""
        self.explains = self.empty_lost / np.maximum(lost.sum(), self.empty)
        """The share that each has of what was lost, or of what it would drop, if that is less."""
        others, others_lost = len(lost) - self.empty, int(lost.sum()) - self.empty_lost
        self.likely = _binomial(self.empty_lost, self.empty) + _binomial(others_lost, others)


def _binomial(lost: Floats, packets: Floats) -> Floats:
    """Returns the greatest logarithmic likelihood of so many losses."""
    share = lost / np.maximum(packets, 1)
    passed: Floats = (packets - lost) * np.log1p(-np.minimum(share, 1 - 1e-12))
    return lost * np.log(np.maximum(share, 1e-12)) + passed


def _delay_at_losses_s(lost_s: Floats, trips: RoundTrips) -> float:
    """Returns how much longer than the least the round trips around losses are, in the median."""
    at = np.clip(np.searchsorted(trips.time_s, lost_s), 0, len(trips.rtt_s) - 1)
    least_s = float(trips.rtt_s.min())
    return float(np.median(trips.rtt_s[at])) - least_s
