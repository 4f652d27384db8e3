"""Breaks texts that are too long for their place, such as the names of schemes with many keys."""

from __future__ import annotations

import re

from rich.cells import cell_len, chop_cells

IN_NAMES = re.compile(r"(?<=[:,/\s])|(?=[+@])")
"""Where a name may be broken: behind `:`, `,`, `/` and spaces, and before the `+` and `@` of a scheme."""
AT_SPACES = re.compile(r"(?<=\s)")


def wrapped(text: str, width: int, seams: re.Pattern[str] = IN_NAMES) -> list[str]:
    """Breaks each line of `text` into lines of at most `width` columns of a terminal.

    Nothing but spaces at the seams is lost. A part without a seam that is too long is broken anywhere.
    """
    return [line for given in text.split("\n") for line in _wrapped(given, max(width, 2), seams)]


def _wrapped(text: str, width: int, seams: re.Pattern[str]) -> list[str]:
    lines = [""]
    for part in seams.split(text):
        if cell_len((lines[-1] + part).rstrip()) <= width:
            lines[-1] += part
            continue
        pieces = chop_cells(part, width) if cell_len(part.rstrip()) > width else [part]
        lines = [*([] if lines == [""] else lines), *pieces]
    return [line.rstrip() for line in lines]
