"""Reads one round trip in ms per line, as `airtcp trace` prints them."""

from __future__ import annotations

import math
from array import array
from itertools import pairwise
from pathlib import Path

import numpy as np

from airtcp.fit.measurement import Measurement, RoundTrips
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS
from airtcp.fit.text import Skips, TextFile

_LONGEST_MS = 1e8


def recognises(head: bytes) -> float:
    text = head.decode("utf-8", "replace")
    lines = text.splitlines()
    if len(lines) > 2:
        # The last line may be truncated.
        lines.pop()
    words = [word for line in lines if (word := _word(line))]
    values = [value for word in words if (value := _value(word)) is not None]
    if not values or len(values) * 2 < len(words):
        return 0.0
    if "round trips in ms" in text.partition("\n")[0]:
        return 0.97
    steps_back = sum(after < before for before, after in pairwise(values))
    if steps_back * 100 <= len(values) and all(value.is_integer() for value in values):
        # Whole numbers that never decrease may be a capacity trace.
        return 0.26
    return 0.85 * len(values) / len(words)


def read(path: Path) -> Measurement:
    text = TextFile(path, Skips("round trips in ms"))
    rtt_ms = array("d")
    for number, line in text.lines():
        if not (word := _word(line)):
            text.skips.lines -= 1
        elif (value := _value(word)) is None:
            text.skips.add(number, line)
        elif len(rtt_ms) == MAX_ROWS:
            text.notes.append(f"Only the first {MAX_ROWS} round trips are used.")
            break
        else:
            rtt_ms.append(value)
    if not rtt_ms:
        raise FileError(f"{path}: no line is a round trip in ms")
    text.skips.check(path)
    note = "The file has no times: 1 s from one round trip to the next is assumed; losses are not known."
    return Measurement(
        source=path,
        format="round trips in ms",
        round_trips=RoundTrips(np.arange(len(rtt_ms), dtype=np.float64), np.array(rtt_ms) / 1e3),
        skipped=text.skips.skipped(),
        notes=(note, *text.notes),
    )


def _word(line: str) -> str:
    return line.partition("#")[0].strip()


def _value(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= _LONGEST_MS else None


READER = Reader("rtt", "one round trip in ms a line, as `airtcp trace` prints them", recognises, read)
