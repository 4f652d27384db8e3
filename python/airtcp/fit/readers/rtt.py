"""Reads one round trip in ms per line, as `airtcp trace` prints them."""

from __future__ import annotations

import math
from array import array
from itertools import pairwise
from pathlib import Path

import numpy as np

from airtcp.fit.measurement import Fates, Floats, Measurement, RoundTrips
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS, MISSING
from airtcp.fit.text import Skips, TextFile, head

_LONGEST_MS = 1e8
_LIKELY_MS = (1.0, 10_000.0)
"""If nothing says that they are ms, a median beyond would be likelier in another unit."""
_ROUNDED_MS = 2.0
"""Beside a round trip this short, another one may have been rounded to 0."""
_MANY = 10
_MARK = "round trips in ms"


def recognises(start: bytes) -> float:
    text = start.decode("utf-8", "replace")
    lines = text.splitlines()
    if len(lines) > 2:
        # The last line may be truncated.
        lines.pop()
    words = [word for line in lines if (word := _word(line))]
    values = [value for word in words if (value := _value(word)) is not None]
    if not values or len(values) * 2 < len(words):
        return 0.0
    if _MARK in text.partition("\n")[0]:
        return 0.97
    values = [value for value in values if not math.isnan(value)]
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
    values = np.array(rtt_ms)
    answered = values[values > 0]
    if _MARK.encode() not in head(path).partition(b"\n")[0]:
        _check(path, answered)
    if len(answered) and float(answered.min()) > _ROUNDED_MS:
        values[values == 0] = math.nan
    lost = np.isnan(values)
    time_s = np.arange(len(values), dtype=np.float64)
    trips = RoundTrips(time_s[~lost], values[~lost] / 1e3) if not lost.all() else None
    told = "those without a value count as lost" if lost.any() else "losses are not known"
    note = f"The file has no times: 1 s from one round trip to the next is assumed; {told}."
    return Measurement(
        source=path,
        format=_MARK,
        round_trips=trips,
        fates=(Fates(lost, "both", interval_s=1.0),) if lost.any() else (),
        skipped=text.skips.skipped(),
        notes=(note, *text.notes),
    )


def _check(path: Path, answered: Floats) -> None:
    """
    # Raises
    FileError if numbers without a name are hardly round trips in ms.
    """
    middle = float(np.median(answered)) if len(answered) else _LIKELY_MS[0]
    if not _LIKELY_MS[0] <= middle < _LIKELY_MS[1]:
        raise FileError(
            f"{path}: numbers without a heading (median {middle:.4g}), which could be s, ms or µs; put their "
            "name above them: rtt_s, rtt_ms or rtt_us"
        )
    if len(answered) >= _MANY and bool((np.diff(answered) > 0).all()):
        raise FileError(
            f"{path}: numbers without a heading that only grow, as times do and round trips do not; if they "
            "are round trips, put their name above them: rtt_ms"
        )


def _word(line: str) -> str:
    return line.partition("#")[0].strip()


def _value(word: str) -> float | None:
    """Returns a round trip, or NaN for a packet without an answer."""
    if word.lower() in MISSING:
        return math.nan
    try:
        value = float(word)
    except ValueError:
        return None
    if not math.isfinite(value) or abs(value) > _LONGEST_MS:
        return None
    return value if value >= 0 else math.nan


READER = Reader("rtt", "one round trip in ms a line, as `airtcp trace` prints them", recognises, read)
