"""Decides whether a sender of UDP has lost packets by sending more than the link carries.

Two models explain losses. *Overload*: what arrives is the link's rate, and the rest overflows. *Random*: each
packet is lost by itself. Their likelihoods differ in how the numbers vary from interval to interval: what
arrives is constant under the first; under the second, losses vary at least as much as a binomial. A priori,
the sender's rate is anything within two decades above the link's; random loss is anything from 0.01 % to
half, and the rarer, the more there is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from airtcp.fit.measurement import Floats, Offered

MOST_EVIDENCE = math.log(20)
"""Limit on what the intervals say: a sender's own pacing makes them alike, too."""
DECADES = math.log(100)
RANDOM_DECADES = math.log(0.5 / 1e-4)
USUAL_LOSS = 0.02
"""Random loss above this gets less likely,"""
RARER = 1.5
"""with this power of it."""


@dataclass(frozen=True)
class Overload:
    """What UDP's losses say of the rate."""

    sent_bps: float
    arrived_bps: float
    """Both in IP packets."""
    share: float
    """Share of the packets that were lost."""
    likelihood: float
    """Of the first model, with those two and no other."""

    @property
    def is_likely(self) -> bool:
        return self.likelihood > 0.5


def overload(offered: Offered) -> Overload | None:
    """Returns None if nothing was lost, or nothing arrived."""
    sent, lost = float(offered.packets.sum()), float(offered.lost.sum())
    within_s = float(offered.interval_s.sum())
    if not 0 < lost < sent or within_s <= 0:
        return None
    share, bits = lost / sent, 8 * offered.packet_bytes / within_s
    prior = math.log(share / DECADES) - math.log(_random_prior(share) / RANDOM_DECADES)
    odds = prior + _evidence(offered, share)
    likelihood = 1 / (1 + math.exp(-odds))
    return Overload(sent * bits, (sent - lost) * bits, share, likelihood)


def _random_prior(share: float) -> float:
    return float(min(1.0, (USUAL_LOSS / share) ** RARER))


def _evidence(offered: Offered, share: float) -> float:
    """Returns the logarithm of the likelihoods' ratio. Each model has one number for how much it varies."""
    if len(offered.packets) < 3:
        return 0.0
    arrived = offered.packets - offered.lost
    rate = float(arrived.sum() / offered.interval_s.sum())
    constant = arrived - rate * offered.interval_s
    binomial_variance = offered.packets * share * (1 - share)
    alike = _log_likelihood(constant, np.ones(len(arrived)), least=1.0)
    random = _log_likelihood(offered.lost - share * offered.packets, binomial_variance, least=1.0)
    return max(-MOST_EVIDENCE, min(MOST_EVIDENCE, alike - random))


def _log_likelihood(errors: Floats, variance: Floats, *, least: float) -> float:
    """Returns that of normal errors whose variances are known up to a factor of at least `least`."""
    factor = max(least, float((errors**2 / variance).mean()))
    scaled = factor * variance
    return float(-0.5 * (np.log(2 * math.pi * scaled) + errors**2 / scaled).sum())
