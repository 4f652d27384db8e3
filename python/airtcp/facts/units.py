"""Chooses readable units."""

from __future__ import annotations

from collections.abc import Sequence

Unit = tuple[float, str]
"""The size in base units, and the name."""


def rate_scale(rates_bps: Sequence[float]) -> Unit:
    """Returns the unit for rates of this size."""
    return _largest_below(rates_bps, ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")), "bit/s")


def size_scale(sizes_bytes: Sequence[float]) -> Unit:
    """Returns the unit for sizes of this size."""
    return _largest_below(sizes_bytes, ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")), "bytes")


def _largest_below(values: Sequence[float], units: Sequence[Unit], base: str) -> Unit:
    largest = max(values, default=0.0)
    return next((unit for unit in units if largest >= unit[0]), (1.0, base))
