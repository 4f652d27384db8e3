"""What a scheme is made of, by its text."""

from __future__ import annotations

from functools import lru_cache

SPLITS = "split"


def terms(scheme: str) -> list[str]:
    """The names in a scheme: `cubic:beta=0.8+split @ fq-codel` has `cubic` and `split`."""
    return [term.split(":")[0].strip() for term in scheme.partition("@")[0].split("+")]


@lru_cache
def is_split(scheme: str) -> bool:
    """Does a proxy end its connection? RTT and timeouts are then the sender's with the proxy."""
    return SPLITS in terms(scheme)
