"""Reads capacity traces in mahimahi's format: each line is the time in ms at which 1500 bytes may cross."""

from __future__ import annotations

import re
from array import array
from itertools import pairwise
from pathlib import Path

import numpy as np

from airtcp.fit.measurement import Direction, Floats, Measurement, Replay, Throughput
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.text import Skips, TextFile

OPPORTUNITY_BYTES = 1500
_BIN_MS = 500
_LONGEST_MS = 31 * 24 * 3600 * 1000
_GREATEST_MS = 0xFFFF_FFFF
_UP = re.compile(r"(\b|_)up(link|load)?(\b|_)", re.IGNORECASE)
_DOWN = re.compile(r"(\b|_)down(link|load)?(\b|_)", re.IGNORECASE)


def recognises(head: bytes) -> float:
    lines = head.split(b"\n")
    if len(lines) > 2:
        # The last line may be truncated.
        lines.pop()
    words = [word for line in lines if (word := line.partition(b"#")[0].strip())]
    numbers = [int(word) for word in words if len(word) <= 10 and word.isdigit()]
    if not numbers or len(numbers) * 2 < len(words):
        return 0.0
    # Two traces in one file may step back once; round trips do so all the time.
    if sum(after < before for before, after in pairwise(numbers)) * 100 > len(numbers):
        return 0.0
    return 0.9 * len(numbers) / len(words) if numbers[-1] > numbers[0] else 0.3


def read(path: Path) -> Measurement:
    text = TextFile(path, Skips("times in ms that do not decrease"))
    counts, last_ms = _opportunities(text)
    if not last_ms:
        raise FileError(f"{path}: no time above 0 ms; each line is the time at which 1500 bytes may cross")
    text.skips.check(path)
    direction, notes = _direction(path)
    is_replayable = text.is_plain and not text.skips.count
    if not is_replayable:
        notes.append("The trace itself cannot be replayed: clean it up (plain text, only times) for that.")
    return Measurement(
        source=path,
        format="capacity trace (mahimahi)",
        throughput=(_throughput(counts, last_ms, direction),),
        replay=Replay("trace", direction) if is_replayable else None,
        skipped=text.skips.skipped(),
        notes=(*notes, *text.notes),
    )


def _opportunities(text: TextFile) -> tuple[array[int], int]:
    """Returns the number of opportunities in each bin, and the time of the last one."""
    counts: array[int] = array("q")
    last_ms = 0
    for number, line in text.lines():
        word = line if line.isdecimal() else line.partition("#")[0].strip()
        if not word:
            text.skips.lines -= 1
            continue
        if not (len(word) <= 10 and word.isdecimal() and last_ms <= (ms := int(word)) <= _GREATEST_MS):
            text.skips.add(number, line)
            continue
        if ms > _LONGEST_MS:
            raise FileError(f"{text.path}: line {number}: {ms} ms is more than a month; times are in ms")
        last_ms = ms
        place = _bin(ms)
        if place >= len(counts):
            counts.extend([0] * (place + 1 - len(counts)))
        counts[place] += 1
    return counts, last_ms


def _bin(ms: int) -> int:
    """A bin includes its end and not its start, because the opportunity at the very end belongs to the
    trace."""
    return max(ms - 1, 0) // _BIN_MS


def _throughput(counts: array[int], last_ms: int, direction: Direction) -> Throughput:
    # A short last bin is merged with the one before.
    bins = max(1, round(last_ms / _BIN_MS))
    opportunities = np.array(counts[:bins])
    opportunities[-1] += sum(counts[bins:])
    begin_s: Floats = np.arange(bins, dtype=np.float64) * (_BIN_MS / 1e3)
    length_s = np.diff(begin_s, append=last_ms / 1e3)
    rate_bps = opportunities * (OPPORTUNITY_BYTES * 8) / length_s
    return Throughput(begin_s, length_s, rate_bps, direction, is_capacity=True)


def _direction(path: Path) -> tuple[Direction, list[str]]:
    """Data goes down, as in a download."""
    if _UP.search(path.name):
        return "reverse", []
    if _DOWN.search(path.name):
        return "forward", []
    return "forward", ["The name has no direction (.down, .up): the forward direction is assumed."]


READER = Reader(
    "mahimahi", "a capacity trace: lines of the time in ms at which 1500 bytes may cross", recognises, read
)
