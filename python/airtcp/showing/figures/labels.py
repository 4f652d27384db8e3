"""Texts in figures: how wide they are, and how they are broken where room is short."""

from __future__ import annotations

from functools import lru_cache

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from airtcp.showing.wrapping import wrapped

FONT_PT = 8.0
PT_PER_IN = 72.0
LINE_IN = 0.135
"""Height of a line."""
LETTER_IN = 0.058
"""Width of a narrow letter on average: the first guess at how many fit."""
CUT = "…"


@lru_cache(4096)
def width_in(text: str, *, bold: bool = False) -> float:
    """Returns the width of the widest line."""
    font = FontProperties(size=FONT_PT, weight="bold" if bold else "normal")
    return max(
        text_to_path.get_text_width_height_descent(line or " ", font, ismath=False)[0] / PT_PER_IN
        for line in text.split("\n")
    )


def broken(text: str, room_in: float, *, most_lines: int = 99, bold: bool = False) -> str:
    """Breaks the text into lines of this width where its parts meet. What `most_lines` do not hold is cut."""
    columns = max(2, int(room_in / LETTER_IN))
    lines = wrapped(text, columns)
    while columns > 2 and width_in("\n".join(lines), bold=bold) > room_in:
        columns -= 1
        lines = wrapped(text, columns)
    if len(lines) > most_lines:
        lines = [*lines[: most_lines - 1], shortened("".join(lines[most_lines - 1 :]), room_in, bold=bold)]
    return "\n".join(lines)


def shortened(text: str, room_in: float, *, bold: bool = False) -> str:
    """Returns as much of one line as there is room for, and an ellipsis if something is missing."""
    if width_in(text, bold=bold) <= room_in:
        return text
    kept = text
    while kept and width_in(f"{kept.rstrip()}{CUT}", bold=bold) > room_in:
        kept = kept[:-1]
    return f"{kept.rstrip()}{CUT}" if kept else ""


def lines_of(text: str) -> int:
    return text.count("\n") + 1


def literal(text: str) -> str:
    """Returns a text from others so that Matplotlib sees no formula between two dollars."""
    return text.replace("$", r"\$")
