"""Does loss grow with a packet's length? Small and full packets side by side tell.

Bit errors lose a packet of n bytes with 1 − (1 − ber)^(8n); what loses packets whole spares none for being
short. What explains it best by BIC is taken: all lengths are lost alike, bit errors alone, or both together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from airtcp.fit.findings import Value
from airtcp.fit.hidden_chain import Chain, likelihood_beside
from airtcp.fit.likelihood import most_likely
from airtcp.fit.loss import Loss, fit_loss
from airtcp.fit.measurement import Fates, Flags, Floats

SURELY = 10.0
"""A difference of BIC from which one explanation is clearly better (Kass and Raftery 1995)."""
FEW = 20


@dataclass(frozen=True)
class BySize:
    """Of packets in two lengths."""

    small_bytes: float
    full_bytes: float
    small: Loss
    full: Loss
    ber: Value | None
    """None: lengths are lost alike, as far as can be told."""
    rest: Loss | None
    """What loses small packets beside bit errors; None: bit errors explain all."""
    is_sure: bool
    """Is the next best explanation clearly worse?"""


def by_size(fates: Fates) -> BySize | None:
    """None where all have one length, or few were lost or sent of either."""
    if fates.sizes is None or not fates.lost.any():
        return None
    least, most = float(fates.sizes.min()), float(fates.sizes.max())
    if most < 2 * least:
        return None
    is_small = fates.sizes < math.sqrt(least * most)
    small, full = fit_loss(fates.lost[is_small]), fit_loss(fates.lost[~is_small])
    alike = fit_loss(fates.lost)
    if small is None or full is None or alike is None or min(small.n, full.n) < FEW:
        return None
    small_bytes, full_bytes = float(fates.sizes[is_small].mean()), float(fates.sizes[~is_small].mean())
    bits: Floats = 8 * np.where(is_small, small_bytes, full_bytes)
    alone = _alone(fates.lost, bits)
    explained = [alone, _beside_single(fates.lost, bits, small)]
    if alike.chain is not None:
        explained.append(_beside_bursts(fates.lost, bits, alike.chain))
    # Bit errors do not spare long packets.
    found = [each for each in explained if full.share.best > small.share.best]
    best = min(found, key=lambda each: each.bic, default=None)
    if best is None or _bic(alike) <= best.bic:
        # Bit errors beside other losses may be as few as one likes: what counts is that they are not all.
        is_sure = best is None or alone.bic - _bic(alike) >= SURELY
        return BySize(small_bytes, full_bytes, small, full, None, None, is_sure)
    rest = _rest(best, small)
    beside = _strength(rest.share.best) if rest is not None else 0.0
    ber = replace(_ber(full, beside, full_bytes), best=best.ber)
    is_sure = _bic(alike) - best.bic >= SURELY
    return BySize(small_bytes, full_bytes, small, full, ber, rest, is_sure)


@dataclass(frozen=True)
class _Explained:
    """By bit errors, and beside them by what loses packets of any length: in bursts, or one by one."""

    ber: float
    share: float
    chain: Chain | None
    bic: float


def _alone(lost: Flags, bits: Floats) -> _Explained:
    ber, log = most_likely([1e-5], lambda at: _log_likelihood(at[0], 0.0, lost, bits))
    return _Explained(ber[0], 0.0, None, math.log(len(lost)) - 2 * log)


def _beside_single(lost: Flags, bits: Floats, small: Loss) -> _Explained:
    start = [1e-6, max(small.share.best, 1e-4)]
    (ber, share), log = most_likely(start, lambda at: _log_likelihood(at[0], at[1], lost, bits))
    return _Explained(ber, share, None, 2 * math.log(len(lost)) - 2 * log)


def _beside_bursts(lost: Flags, bits: Floats, start: Chain) -> _Explained:
    def log_likelihood(at: list[float]) -> float:
        chain = Chain(at[1], at[2], 0.0, at[3])
        return likelihood_beside(chain, -np.expm1(-at[0] * bits), lost) if chain.memory > 0 else -math.inf

    first = [1e-6, start.to_bad, start.to_good, min(start.bad_loss, 0.9)]
    (ber, to_bad, to_good, bad_loss), log = most_likely(first, log_likelihood)
    chain = Chain(to_bad, to_good, 0.0, bad_loss)
    return _Explained(ber, chain.loss, chain, 4 * math.log(len(lost)) - 2 * log)


def _rest(found: _Explained, small: Loss) -> Loss | None:
    """What loses packets of any length, as a loss by itself."""
    if found.share <= 0:
        return None
    chain, share = found.chain, replace(small.share, best=found.share)
    if chain is None:
        return replace(small, model="Bernoulli", share=share, chain=None, burst=None)
    in_a_row = 1 / (1 - (1 - chain.to_good) * chain.bad_loss)
    return replace(
        small, model="simple Gilbert–Elliott", share=share, chain=chain, burst=Value(max(1.0, in_a_row))
    )


def _bic(loss: Loss) -> float:
    return min(value for _, value in loss.bic)


def _strength(share: float) -> float:
    """The loss as an exponent: that of independent causes adds up."""
    return -math.log1p(-min(share, 1 - 1e-9))


def _ber(full: Loss, beside: float, more_bytes: float) -> Value:
    """What makes full packets lost so much oftener than what is lost beside."""

    def of(share: float) -> float:
        return max(0.0, _strength(share) - beside) / (8 * more_bytes)

    share = full.share
    return Value(of(share.best), of(share.low or 0.0), of(1.0 if share.high is None else share.high))


def _log_likelihood(ber: float, share: float, lost: Flags, bits: Floats) -> float:
    exponent = ber * bits + _strength(share)
    if exponent[lost].min() <= 0:
        return -math.inf
    return float(np.log(-np.expm1(-exponent[lost])).sum() - exponent[~lost].sum())
