"""The two-state chain of Gilbert (1960) and Elliott (1963), its likelihood, and the maximum-likelihood
chain."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from airtcp.fit.likelihood import most_likely
from airtcp.fit.measurement import Flags, Floats

Places = npt.NDArray[np.intp]
MANY_RUNS = 5000
"""From this many runs on, the likelihood has practically one peak, and one start suffices."""


@dataclass(frozen=True)
class Runs:
    """Runs of packets with the same fate: lost or not, and how many; shape (n,)."""

    lost: Flags
    packets: Places


@dataclass(frozen=True)
class Chain:
    """Each packet meets the current state; then the state may change. Probabilities are per packet."""

    to_bad: float
    to_good: float
    good_loss: float
    bad_loss: float

    @property
    def memory(self) -> float:
        """The second eigenvalue: the share of a deviation from the long run that is left after one packet."""
        return 1 - self.to_bad - self.to_good

    @property
    def bad_share(self) -> float:
        return self.to_bad / (self.to_bad + self.to_good)

    @property
    def loss(self) -> float:
        """The long-run loss."""
        return self.bad_share * self.bad_loss + (1 - self.bad_share) * self.good_loss

    def renamed(self) -> Chain:
        """Returns the chain with its two states exchanged."""
        return Chain(self.to_good, self.to_bad, self.bad_loss, self.good_loss)

    def inflation(self, share: float) -> float:
        """Returns the variance of a mean loss of `share` relative to that of independent losses.

        The autocovariance at lag k is π(1−π)·(difference of the losses)²·memory^k.
        """
        spread = share * (1 - share)
        if spread <= 0:
            return 1.0
        bad, memory = self.bad_share, max(0.0, self.memory)
        covariance = bad * (1 - bad) * (self.bad_loss - self.good_loss) ** 2
        return 1 + 2 * min(1.0, covariance / spread) * memory / max(1e-9, 1 - memory)

    def on_one_of_two_ways(self) -> Chain:
        """Returns the chain for each of two independent directions whose combination is about this chain.

        Stays in the bad state are as long; a packet survives both directions as often.
        """
        bad = 1 - math.sqrt(1 - self.bad_share)
        # The combined chain is good if both directions are; a packet meets the bad loss in either.
        good_loss = 1 - math.sqrt(1 - self.good_loss)
        return Chain(
            min(1 - self.to_good, self.to_good * bad / (1 - bad)), self.to_good, good_loss, self.bad_loss
        )


def run_lengths(lost: Flags) -> Runs:
    """Returns the fates as runs."""
    edges = np.flatnonzero(np.diff(lost)) + 1
    bounds = np.concatenate(([0], edges, [len(lost)])) if len(lost) else np.zeros(1, dtype=np.intp)
    return Runs(lost[bounds[:-1]], np.diff(bounds))


def likelihood(chain: Chain, runs: Runs) -> float:
    """Returns the log-likelihood of the fates; the first packet finds the chain in its long run."""
    change = np.array([[1 - chain.to_bad, chain.to_bad], [chain.to_good, 1 - chain.to_good]])
    loss = np.array([chain.good_loss, chain.bad_loss])
    matrices = np.empty((2, 2, len(runs.lost)))
    logs = 0.0
    for fate, emitted in ((True, loss), (False, 1 - loss)):
        chosen = runs.lost == fate
        matrices[:, :, chosen], log = _powers(emitted[:, None] * change, runs.packets[chosen])
        logs += log
    product, log = _product(matrices)
    start = np.array([1 - chain.bad_share, chain.bad_share])
    total = float((start @ product).sum())
    return logs + log + math.log(total) if total > 0 else -math.inf


def likelihood_beside(chain: Chain, others: Floats, lost: Flags) -> float:
    """Like `likelihood`, for packets that may also be lost for another reason, each with its probability in
    `others`."""
    change = np.array([[1 - chain.to_bad, chain.to_bad], [chain.to_good, 1 - chain.to_good]])
    survives = (1 - np.array([chain.good_loss, chain.bad_loss]))[:, None] * (1 - others)[None, :]
    emitted = np.where(lost, 1 - survives, survives)
    product, log = _product(emitted[:, None, :] * change[:, :, None])
    start = np.array([1 - chain.bad_share, chain.bad_share])
    total = float((start @ product).sum())
    return log + math.log(total) if total > 0 else -math.inf


def _powers(matrix: Floats, exponents: Places) -> tuple[Floats, float]:
    """Returns the matrix to each power, shape (2, 2, n), scaled, and the logarithms of the scale factors.

    It uses the two eigenvalues, which are real for a matrix without negative elements.
    """
    half, determinant = (matrix[0, 0] + matrix[1, 1]) / 2, float(np.linalg.det(matrix))
    root = math.sqrt(max(half**2 - determinant, 1e-24))
    large, small = half + root, half - root
    if large <= 0:
        return np.zeros((2, 2, len(exponents))), 0.0
    ratio = (small / large) ** exponents
    first, second = matrix - small * np.eye(2), matrix - large * np.eye(2)
    answer = (first[:, :, None] - ratio * second[:, :, None]) / (2 * root)
    return np.maximum(answer, 0.0), float(exponents.sum()) * math.log(large)


def _product(matrices: Floats) -> tuple[Floats, float]:
    """Returns their product in order, computed pairwise and scaled, and the logarithm of the scale factor."""
    log = 0.0
    while matrices.shape[2] > 1:
        if matrices.shape[2] % 2:
            matrices = np.concatenate((matrices, np.eye(2)[:, :, None]), axis=2)
        left, right = matrices[:, :, 0::2], matrices[:, :, 1::2]
        matrices = left[:, :1] * right[:1] + left[:, 1:] * right[1:]
        scale = np.maximum(matrices[0, 0] + matrices[0, 1] + matrices[1, 0] + matrices[1, 1], 1e-300)
        matrices = matrices / scale
        log += float(np.log(scale).sum())
    return matrices[:, :, 0], log


def most_likely_chain(runs: Runs, start: Chain, *, with_good_loss: bool) -> tuple[Chain, float]:
    """Returns the maximum-likelihood chain, with losses in the good state or without, and its
    log-likelihood."""

    def chain(at: list[float]) -> Chain:
        found = Chain(at[0], at[1], at[3] if with_good_loss else 0.0, at[2])
        return found if found.good_loss <= found.bad_loss else found.renamed()

    best, best_log = start, -math.inf
    starts = ((1.0, 0.9), (5.0, 0.4))
    for stay, bad_loss in starts if len(runs.lost) < MANY_RUNS else starts[1:]:
        first = [start.to_bad / stay, start.to_good / stay, bad_loss, start.loss / 4]
        found, log = most_likely(
            first if with_good_loss else first[:3],
            lambda at: likelihood(chain(at), runs),
            least=1e-6,
            iterations=300,
        )
        if log > best_log:
            best, best_log = chain(found), log
    return best, best_log
