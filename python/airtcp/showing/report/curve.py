"""Reduces curves to the resolution of a screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

CURVE_POINTS = 3000
"""Limit per curve of a page."""
CDF_POINTS = 400

Value = float | None


def thinned(
    times: Sequence[float],
    values: Sequence[Value],
    by: Callable[[list[float]], float] | None = None,
    most: int = CURVE_POINTS,
) -> tuple[list[float], list[Value]]:
    """Returns at most `most` points: the lowest and highest of each interval, so that no peak is lost.

    With `by`, one value of each interval.
    """
    if len(times) <= most:
        return list(times), list(values)
    each = -(-len(times) // (most if by else most // 2))
    short: list[tuple[float, Value]] = []
    for start in range(0, len(times), each):
        stretch = [
            place for place in range(start, min(start + each, len(times))) if values[place] is not None
        ]
        if not stretch:
            short.append((times[start], None))
        elif by:
            short.append((times[start], by([values[place] or 0.0 for place in stretch])))
        else:
            ends = {
                min(stretch, key=lambda p: values[p] or 0.0),
                max(stretch, key=lambda p: values[p] or 0.0),
            }
            short += [(times[place], values[place]) for place in sorted(ends)]
    return [time for time, _ in short], [value for _, value in short]


def cumulative(values: Sequence[float], counts: Sequence[int]) -> tuple[list[float], list[float]]:
    """Returns the distribution function of ordered values: from share zero at the first to one at the
    last."""
    total = sum(counts)
    shares = [0.0, *(done / total for done in accumulate(counts))]
    points = list(zip([values[0], *values], shares, strict=True))
    if len(points) > CDF_POINTS:
        each = -(-len(points) // CDF_POINTS)
        points = [*points[:-1:each], points[-1]]
    return [value for value, _ in points], [share for _, share in points]


def span(values: Sequence[Value]) -> tuple[float, float]:
    """Returns the lowest and highest value; zeros without any."""
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else (0.0, 0.0)
