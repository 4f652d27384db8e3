"""How a figure shares its room between axes, names, legend and title, whatever their number and length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.figure import Figure as Drawing

from airtcp.showing.figures.labels import FONT_PT, LINE_IN, broken, lines_of, literal, shortened, width_in
from airtcp.showing.figures.style import GREY, WIDTH_IN

Size = tuple[float, float]

TOP_IN, BOTTOM_IN, LEFT_IN, RIGHT_IN = 0.32, 0.42, 0.62, 0.12
HIGHEST_IN = 200.0
"""Higher pictures have more pixels than PNG's writer takes."""
NAMES_SHARE, LEGEND_SHARE = 0.4, 0.35
"""Largest shares of the width."""
AXES_SHARE = 0.2
"""Least share of width and height that is left for the axes."""
BESIDE_NAMES_IN, HANDLE_IN = 0.16, 0.5
BETWEEN_NAMES_IN = 0.06
LEAST_PT = 1.0


@dataclass(frozen=True)
class Labels:
    """Texts as they are drawn, each perhaps in several lines, and their size."""

    texts: Sequence[str]
    font_pt: float = FONT_PT

    @property
    def width_in(self) -> float:
        return max(map(width_in, self.texts), default=0.0) * self.font_pt / FONT_PT


@dataclass(frozen=True)
class Margins:
    """Around the axes, in inches."""

    left: float
    right: float
    bottom: float
    top: float

    def inside(self, size: Size) -> dict[str, float]:
        """Returns what Matplotlib takes: shares of the figure, which always leave room for the axes."""
        left, right = _limited(self.left, self.right, size[0])
        bottom, top = _limited(self.bottom, self.top, size[1])
        return {"left": left, "right": 1 - right, "bottom": bottom, "top": 1 - top}


def _limited(low_in: float, high_in: float, whole_in: float) -> tuple[float, float]:
    factor = min(1.0, (1 - AXES_SHARE) * whole_in / (low_in + high_in)) / whole_in
    return low_in * factor, high_in * factor


def size_of(given: Size | None, height_in: float) -> Size:
    return given or (WIDTH_IN, min(height_in, HIGHEST_IN))


def row_names(names: Sequence[str], width: float, room_in: float | None) -> tuple[Labels, float]:
    """Returns the names of rows, and the height that these need; both fit into `room_in` if there is one."""
    each_in = NAMES_SHARE * width - BESIDE_NAMES_IN

    def pitch_in(texts: Sequence[str]) -> float:
        """Neighbours meet half-way."""
        lines = [lines_of(text) for text in texts]
        pairs = [(a + b) / 2 for a, b in pairwise(lines)] or [float(max(lines, default=1))]
        return max(pairs) * LINE_IN + BETWEEN_NAMES_IN

    return _fitting(names, each_in, room_in, lambda texts: pitch_in(texts) * len(texts))


def legend_labels(labels: Sequence[str], width: float, room_in: float | None) -> tuple[Labels, float]:
    """Returns the labels of a legend, and its height; both fit into `room_in` if there is one."""

    def height_in(texts: Sequence[str]) -> float:
        return sum(lines_of(text) * LINE_IN + BETWEEN_NAMES_IN for text in texts) + LINE_IN

    return _fitting(labels, LEGEND_SHARE * width - HANDLE_IN, room_in, height_in)


def _fitting(
    texts: Sequence[str], each_in: float, room_in: float | None, height_in: Callable[[Sequence[str]], float]
) -> tuple[Labels, float]:
    """Breaks the texts; where the height is given, into fewer lines, and then in smaller letters."""
    if not texts:
        return Labels([]), 0.0
    made = [broken(text, each_in) for text in texts]
    most = max(map(lines_of, made), default=1)
    while room_in is not None and height_in(made) > room_in and most > 1:
        most -= 1
        made = [broken(text, each_in, most_lines=most) for text in texts]
    needed = height_in(made)
    scale = 1.0 if room_in is None else min(1.0, max(room_in, 0.0) / needed)
    return Labels([*map(literal, made)], max(LEAST_PT, FONT_PT * scale)), needed


def put_title(drawn: Drawing, left_in: float, title: str, context: str, right_in: float = 0.0) -> None:
    """Writes the title above the axes and the context behind it, as far as `right_in` leaves room."""
    width, height = drawn.get_size_inches()
    end_in, between_in = width - max(right_in, 0.08), 0.12
    said = shortened(title, end_in - 0.08, bold=True)
    taken_in = width_in(said, bold=True)
    at_in = max(0.08, min(left_in, end_in - taken_in))
    y = 1 - 0.07 / height
    drawn.text(at_in / width, y, literal(said), ha="left", va="top", fontweight="bold")
    more = shortened(context, end_in - at_in - taken_in - between_in)
    if more:
        drawn.text((at_in + taken_in + between_in) / width, y, literal(more), ha="left", va="top", color=GREY)
