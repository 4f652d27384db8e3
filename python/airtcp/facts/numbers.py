"""Formats numbers."""

from __future__ import annotations

from airtcp.facts.stats import Estimate

NONE = "–"


def interval(value: Estimate, *, signed: bool = False, digits: int | None = None) -> str:
    """Formats `mean ± half-width`, with the decimals that give three figures of the mean."""
    places = decimals(value.mean) if digits is None else digits
    mean = f"{value.mean:{'+' if signed else ''}.{places}f}"
    return mean if value.half_width is None else f"{mean} ± {value.half_width:.{places}f}"


def decimals(value: float) -> int:
    """Returns the decimals, at most four, that show at least three figures of `value`."""
    magnitude = abs(value)
    return next((places for places, limit in enumerate((100, 10, 1, 0.1)) if magnitude >= limit), 4)


def percent(share: float | None, places: int = 1) -> str:
    return NONE if share is None else f"{100 * share:.{places}f}"


def milliseconds(time_ms: float | None) -> str:
    return NONE if time_ms is None else f"{time_ms:.{min(decimals(time_ms), 1)}f}"


def seconds(time_s: float | None) -> str:
    return NONE if time_s is None else f"{time_s:.{decimals(time_s)}f}"
