"""The two-state chain of Gilbert (1960) and Elliott (1963), its likelihood, and the likeliest chain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from airtcp.fit.measurement import Flags, Floats

Runs = list[tuple[bool, int]]
"""Packets in a row of one fate: lost?, and how many."""
MANY_RUNS = 5000
"""From here on the likelihood has one peak to speak of, and one start must do."""


@dataclass(frozen=True)
class Chain:
    """Each packet meets the state it finds; then the state may change. Probabilities a packet."""

    to_bad: float
    to_good: float
    good_loss: float
    bad_loss: float

    @property
    def memory(self) -> float:
        """How much of a difference from the long run is left after one packet: the second eigenvalue."""
        return 1 - self.to_bad - self.to_good

    @property
    def bad_share(self) -> float:
        return self.to_bad / (self.to_bad + self.to_good)

    @property
    def loss(self) -> float:
        """In the long run."""
        return self.bad_share * self.bad_loss + (1 - self.bad_share) * self.good_loss

    def renamed(self) -> Chain:
        """The same with the names of its states exchanged."""
        return Chain(self.to_good, self.to_bad, self.bad_loss, self.good_loss)

    def inflation(self, share: float) -> float:
        """By how much the variance of a mean loss of `share` is larger than if losses were independent.

        The autocovariance at lag k is π(1−π)·(difference of the losses)²·memory^k.
        """
        spread = share * (1 - share)
        if spread <= 0:
            return 1.0
        bad, memory = self.bad_share, max(0.0, self.memory)
        covariance = bad * (1 - bad) * (self.bad_loss - self.good_loss) ** 2
        return 1 + 2 * min(1.0, covariance / spread) * memory / max(1e-9, 1 - memory)

    def on_one_of_two_ways(self) -> Chain:
        """One of two independent chains of which, together, a packet that crosses both meets about this one.

        Stays in the bad state are as long; a packet survives both ways as often.
        """
        bad = 1 - math.sqrt(1 - self.bad_share)
        # Both ways' good states are one good state, and the bad loss is met on either.
        good_loss = 1 - math.sqrt(1 - self.good_loss)
        return Chain(
            min(1 - self.to_good, self.to_good * bad / (1 - bad)), self.to_good, good_loss, self.bad_loss
        )


def run_lengths(lost: Flags) -> Runs:
    """The fates as runs."""
    if len(lost) == 0:
        return []
    edges = np.flatnonzero(np.diff(lost)) + 1
    bounds = np.concatenate(([0], edges, [len(lost)]))
    return [(bool(lost[start]), int(end - start)) for start, end in pairwise(bounds)]


def likelihood(chain: Chain, runs: Runs) -> float:
    """The logarithm of the fates' probability; the first packet finds the chain in its long run."""
    fates = np.array([lost for lost, _ in runs])
    lengths = np.array([length for _, length in runs], dtype=np.float64)
    change = np.array([[1 - chain.to_bad, chain.to_bad], [chain.to_good, 1 - chain.to_good]])
    loss = np.array([chain.good_loss, chain.bad_loss])
    matrices = np.empty((len(runs), 2, 2))
    logs = np.empty(len(runs))
    for fate, emitted in ((True, loss), (False, 1 - loss)):
        chosen = fates == fate
        matrices[chosen], logs[chosen] = _powers(emitted[:, None] * change, lengths[chosen])
    product, log = _product(matrices)
    start = np.array([1 - chain.bad_share, chain.bad_share])
    total = float((start @ product).sum())
    return float(logs.sum()) + log + math.log(total) if total > 0 else -math.inf


def _powers(matrix: Floats, lengths: Floats) -> tuple[Floats, Floats]:
    """The matrix to each power, without the logarithm of a factor that is answered beside it.

    By its two eigenvalues, which are real for what has no negative element.
    """
    half, determinant = (matrix[0, 0] + matrix[1, 1]) / 2, float(np.linalg.det(matrix))
    root = math.sqrt(max(half**2 - determinant, 1e-24))
    large, small = half + root, half - root
    if large <= 0:
        return np.zeros((len(lengths), 2, 2)), np.zeros(len(lengths))
    ratio = (small / large) ** lengths
    first, second = matrix - small * np.eye(2), matrix - large * np.eye(2)
    answer = (first[None] - ratio[:, None, None] * second[None]) / (2 * root)
    return np.maximum(answer, 0.0), lengths * math.log(large)


def _product(matrices: Floats) -> tuple[Floats, float]:
    """Of all of them in order, pair by pair, without the logarithm that is answered beside it."""
    log = 0.0
    while len(matrices) > 1:
        if len(matrices) % 2:
            matrices = np.concatenate((matrices, np.eye(2)[None]))
        matrices = matrices[0::2] @ matrices[1::2]
        scale = np.maximum(matrices.max(axis=(1, 2)), 1e-300)
        matrices = matrices / scale[:, None, None]
        log += float(np.log(scale).sum())
    return matrices[0], log


def most_likely(runs: Runs, start: Chain, *, with_good_loss: bool) -> tuple[Chain, float]:
    """The chain of greatest likelihood, with losses in the good state or without, and its logarithm."""
    from scipy.optimize import minimize  # noqa: PLC0415 slow to import

    def chain(at: Floats) -> Chain:
        values = [1 / (1 + math.exp(-x)) for x in np.clip(at, -25.0, 25.0).tolist()]
        found = Chain(values[0], values[1], values[3] if with_good_loss else 0.0, values[2])
        return found if found.good_loss <= found.bad_loss else found.renamed()

    def unlikely(at: Floats) -> float:
        return -likelihood(chain(at), runs)

    best, best_log = start, -math.inf
    starts = ((1.0, 0.9), (5.0, 0.4))
    for stay, bad_loss in starts if len(runs) < MANY_RUNS else starts[1:]:
        first = [start.to_bad / stay, start.to_good / stay, bad_loss, start.loss / 4][
            : 4 if with_good_loss else 3
        ]
        inner = np.clip(np.array(first), 1e-6, 1 - 1e-6)
        found = minimize(
            unlikely,
            np.log(inner / (1 - inner)),
            method="Nelder-Mead",
            options={"maxiter": 300, "xatol": 1e-2, "fatol": 1e-3},
        )
        if -found.fun > best_log:
            best, best_log = chain(found.x), -float(found.fun)
    return best, best_log
