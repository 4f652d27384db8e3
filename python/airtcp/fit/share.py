"""The 95 % interval of a share of losses."""

from __future__ import annotations

import math
from collections.abc import Callable

from airtcp.fit.findings import Value, Z

HALVINGS = 60


def independent(n: float, share: float) -> Value:
    """Returns Wilson's interval for `n` independent packets."""
    n, squared = max(n, 1.0), Z**2 / max(n, 1.0)
    middle = (share + squared / 2) / (1 + squared)
    half = Z / (1 + squared) * math.sqrt(share * (1 - share) / n + squared / (4 * n))
    return Value(share, max(0.0, middle - half), min(1.0, middle + half))


def in_runs(n: int, lost: int, runs: int) -> Value:
    """Returns the interval of losses that came in so many runs, some but not all of `n` packets.

    Gilbert's chain has the share and the length of runs, which are known no better than their number allows:
    the interval is that of the profile likelihood, with the most likely length for each share. Chance may
    make of independent losses too few runs, but also too many; a chain without memory is the limit.
    """
    best = lost / n

    def is_inside(logit: float) -> bool:
        share = 1 / (1 + math.exp(-logit))
        return 2 * (most - _profile(share, n, lost, runs)) <= Z**2

    most = _profile(best, n, lost, runs)
    middle = math.log(best / (1 - best))
    low, high = (_edge(middle, middle + far, is_inside) for far in (-30.0, 30.0))
    return Value(best, 1 / (1 + math.exp(-low)), 1 / (1 + math.exp(-high)))


def _edge(inside: float, outside: float, is_inside: Callable[[float], bool]) -> float:
    for _ in range(HALVINGS):
        between = (inside + outside) / 2
        inside, outside = (between, outside) if is_inside(between) else (inside, between)
    return inside


def _profile(share: float, n: int, lost: int, runs: int) -> float:
    """Returns the logarithm of the likelihood of Gilbert's chain with this share, at its best. The packets
    are taken as a circle, so that each run begins and ends."""
    odds = share / (1 - share)
    arrived_again, lost_again = n - lost - runs, lost - runs
    # The derivative by `to_good` is zero: a quadratic equation, whose smaller root is a probability.
    square = odds * n
    linear = 2 * runs * (1 + odds) + arrived_again * odds + lost_again
    to_good = (linear - math.sqrt(max(0.0, linear**2 - 8 * square * runs))) / (2 * square)
    to_good = min(to_good, 1 - share)
    to_bad = odds * to_good
    return (
        runs * (math.log(to_bad) + math.log(to_good))
        + arrived_again * math.log1p(-to_bad)
        + (lost_again * math.log1p(-to_good) if lost_again else 0.0)
    )
