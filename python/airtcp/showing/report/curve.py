"""Curves as short as a screen needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

CURVE_POINTS = 3000
"""Of one curve that a page carries."""
CDF_POINTS = 400

Value = float | None


def thinned(
    times: Sequence[float],
    values: Sequence[Value],
    by: Callable[[list[float]], float] | None = None,
    most: int = CURVE_POINTS,
) -> tuple[list[float], list[Value]]:
    """At most `most` points: of each stretch its least and its greatest, so no peak is lost.

    With `by`, one value of each stretch.
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
    """The distribution function of ordered values: from the first one at share zero to the last at one."""
    total = sum(counts)
    shares = [0.0, *(done / total for done in accumulate(counts))]
    points = list(zip([values[0], *values], shares, strict=True))
    if len(points) > CDF_POINTS:
        each = -(-len(points) // CDF_POINTS)
        points = [*points[:-1:each], points[-1]]
    return [value for value, _ in points], [share for _, share in points]


def span(values: Sequence[Value]) -> tuple[float, float]:
    """Least and greatest; zeros where there is none."""
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else (0.0, 0.0)
