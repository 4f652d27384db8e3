"""Maximises a likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from airtcp.fit.measurement import Floats


def most_likely(
    start: Sequence[float],
    log_likelihood: Callable[[list[float]], float],
    *,
    least: float = 1e-9,
    iterations: int = 400,
) -> tuple[list[float], float]:
    """Returns the probabilities of the maximum, and its value: Nelder and Mead's search from `start`.

    Values of `start` below `least` are raised to it.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 slow to import

    def at(logits: Floats) -> list[float]:
        return [1 / (1 + math.exp(-x)) for x in np.clip(logits, -30.0, 30.0).tolist()]

    def unlikely(logits: Floats) -> float:
        return -log_likelihood(at(logits))

    first = np.clip(np.array(start), least, 1 - 1e-6)
    found = minimize(
        unlikely,
        np.log(first / (1 - first)),
        method="Nelder-Mead",
        options={"maxiter": iterations, "xatol": 1e-2, "fatol": 1e-3},
    )
    return at(found.x), -float(found.fun)
