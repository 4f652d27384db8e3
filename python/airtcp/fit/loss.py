"""Loss and its bursts: Bernoulli, Gilbert or Gilbert–Elliott by maximum likelihood, chosen by BIC."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from airtcp.fit.findings import CONFIDENCE, Value, Z
from airtcp.fit.hidden_chain import Chain, likelihood, most_likely_chain, run_lengths
from airtcp.fit.measurement import Flags
from airtcp.fit.share import in_runs, independent

Model = Literal["Bernoulli", "Gilbert", "simple Gilbert–Elliott", "Gilbert–Elliott"]
FEW_LOSSES = 5
"""Fewer losses show nothing of bursts."""


@dataclass(frozen=True)
class Loss:
    """The loss of one measurement's packets."""

    model: Model
    n: int
    lost: int
    share: Value
    """The mean loss. Bursts widen its interval, because the losses in one burst are one event; so do bursts
    that may be there, where few losses show none."""
    chain: Chain | None
    """None if losses are independent."""
    burst: Value | None
    """Mean number of packets lost in a row."""
    runs: tuple[int, ...]
    """How often 1, 2, … packets were lost in a row; empty if unknown."""
    bic: tuple[tuple[Model, float], ...]
    """BIC of every model that was tried; less is better. Empty if it is unknown which packets were lost."""


def fit_loss(lost: Flags) -> Loss | None:
    """Fits the loss; None without any packet."""
    n, count = len(lost), int(lost.sum())
    if n == 0:
        return None
    rows = _rows(lost)
    fits = _candidates(lost, n, count)
    bic = tuple((model, parameters * math.log(n) - 2 * log) for model, parameters, log, _ in fits)
    model, _, _, chain = fits[int(np.argmin([value for _, value in bic]))]
    share = _share(n, rows, chain, is_circular=bool(lost[0] and lost[-1]))
    return Loss(model, n, count, share, chain, _burst(rows), rows, bic)


def counted_loss(n: int, lost: float) -> Loss:
    """Returns the loss of `n` packets if only the number of losses is known."""
    return Loss("Bernoulli", n, math.ceil(lost), _of_count(n, lost), None, None, (), ())


def _share(n: int, rows: tuple[int, ...], chain: Chain | None, is_circular: bool) -> Value:
    """Returns the interval that losses in runs have; where losses of one burst are apart, as far as the
    states of the chain, that of the number of independent losses with as much information."""
    lost = sum(length * count for length, count in enumerate(rows, 1))
    if lost in (0, n):
        return _of_count(n, lost)
    if chain is not None and (chain.bad_loss < 1 or chain.good_loss > 0):
        return independent(n / chain.inflation(lost / n), lost / n)
    return in_runs(n, lost, sum(rows) - is_circular)


def _of_count(n: int, lost: float) -> Value:
    """Returns the interval of independent losses; with none among n, by the rule of three: at most 3/n."""
    return independent(n, lost / n) if lost else Value(0.0, 0.0, min(1.0, 3 / n))


def most_unseen(n: int) -> float:
    """Returns the largest loss (95 %) that may leave no trace in `n` packets, however few: 1 − 0.05^(1/n)."""
    return 1.0 if n <= 0 else 1 - (1 - CONFIDENCE) ** (1 / n)


def _candidates(lost: Flags, n: int, count: int) -> list[tuple[Model, int, float, Chain | None]]:
    """Returns name, number of parameters, log-likelihood and chain of each model."""
    share = count / n
    alone = count * math.log(share) + (n - count) * math.log1p(-share) if 0 < count < n else 0.0
    fits: list[tuple[Model, int, float, Chain | None]] = [("Bernoulli", 1, alone, None)]
    if count < FEW_LOSSES or n - count < FEW_LOSSES:
        return fits
    gilbert = _gilbert(lost)
    # A chain without memory, or with a negative one, has no bursts.
    if gilbert is None or gilbert.memory <= 0:
        return fits
    lengths = run_lengths(lost)
    fits.append(("Gilbert", 2, likelihood(gilbert, lengths), gilbert))
    for name, parameters in (("simple Gilbert–Elliott", 3), ("Gilbert–Elliott", 4)):
        chain, log = most_likely_chain(lengths, gilbert, with_good_loss=parameters == 4)
        if chain.memory > 0:
            fits.append((name, parameters, log, chain))  # type: ignore[arg-type]
    return fits


def _gilbert(lost: Flags) -> Chain | None:
    """In the bad state all packets are lost, in the good one none: the states are visible, and counting
    suffices."""
    before, after = lost[:-1], lost[1:]
    good, bad = int((~before).sum()), int(before.sum())
    into, out = int((~before & after).sum()), int((before & ~after).sum())
    if good == 0 or bad == 0 or into == 0 or out == 0:
        return None
    return Chain(into / good, out / bad, 0.0, 1.0)


def _rows(lost: Flags) -> tuple[int, ...]:
    runs = run_lengths(lost)
    return tuple(int(count) for count in np.bincount(runs.packets[runs.lost])[1:])


def _burst(rows: tuple[int, ...]) -> Value | None:
    if not rows:
        return None
    bursts = sum(rows)
    mean = sum(length * count for length, count in enumerate(rows, 1)) / bursts
    if bursts < 2:
        return Value(mean)
    # Lengths of runs in a Gilbert chain are geometric: Var = m(m − 1). The measured variance may be larger.
    squares = sum(length**2 * count for length, count in enumerate(rows, 1)) / bursts
    spread = math.sqrt(max(mean * (mean - 1), squares - mean**2) / bursts)
    return Value(mean, max(1.0, mean - Z * spread), mean + Z * spread)
