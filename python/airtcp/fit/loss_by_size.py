"""Tests whether loss grows with packet length, by comparing small and full packets.

Bit errors lose a packet of n bytes with probability 1 − (1 − ber)^(8n); other causes do not depend on the
length. The explanation with the lowest BIC is chosen: all lengths are lost alike, bit errors alone, or both
together.
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
"""A difference of BIC that clearly favours one explanation (Kass and Raftery 1995)."""
FEW = 20


@dataclass(frozen=True)
class BySize:
    """The losses of packets of two lengths."""

    small_bytes: float
    full_bytes: float
    small: Loss
    full: Loss
    ber: Value | None
    """None if the lengths are lost alike, as far as visible."""
    rest: Loss | None
    """Loss of small packets beside bit errors; None if bit errors explain all."""
    is_sure: bool
    """Whether the second-best explanation is clearly worse."""


def by_size(fates: Fates) -> BySize | None:
    """Returns None if all packets have one length, or if few of either length were lost or sent."""
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
    # Bit errors affect long packets more.
    found = [each for each in explained if full.share.best > small.share.best]
    best = min(found, key=lambda each: each.bic, default=None)
    if best is None or _bic(alike) <= best.bic:
        # Bit errors beside other losses can be arbitrarily few: the question is whether they explain
        # everything.
        is_sure = best is None or alone.bic - _bic(alike) >= SURELY
        return BySize(small_bytes, full_bytes, small, full, None, None, is_sure)
    rest = _rest(best, small)
    beside = _strength(rest.share.best) if rest is not None else 0.0
    ber = replace(_ber(full, beside, full_bytes), best=best.ber)
    is_sure = _bic(alike) - best.bic >= SURELY
    return BySize(small_bytes, full_bytes, small, full, ber, rest, is_sure)


@dataclass(frozen=True)
class _Explained:
    """Losses explained by bit errors and, beside them, losses of any length: in bursts, or independent."""

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
    """Returns the length-independent part as a loss of its own."""
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
    """Returns the loss as an exponent, which adds up over independent causes."""
    return -math.log1p(-min(share, 1 - 1e-9))


def _ber(full: Loss, beside: float, more_bytes: float) -> Value:
    """Returns the BER that explains the difference between full packets and the loss beside it."""

    def of(share: float) -> float:
        return max(0.0, _strength(share) - beside) / (8 * more_bytes)

    share = full.share
    return Value(of(share.best), of(share.low or 0.0), of(1.0 if share.high is None else share.high))


def _log_likelihood(ber: float, share: float, lost: Flags, bits: Floats) -> float:
    exponent = ber * bits + _strength(share)
    if exponent[lost].min() <= 0:
        return -math.inf
    return float(np.log(-np.expm1(-exponent[lost])).sum() - exponent[~lost].sum())
