"""Probes as `airtcp measure` logs them: a packet a line, its round trip, each way's delay, its fate.

# airtcp probes 1
# host=192.0.2.1 by=airtcp load=none clock_error_ms=0 mtu=1500
time_s,bytes,rtt_ms,there_ms,back_ms,lost
0.000000,84,40.123,20.050,20.073,
0.050000,1500,,,,there
0.100000,84,,,,back
0.150000,1500,,,,somewhere
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from airtcp.fit.measurement import Direction, Fates, Flags, Floats, Measurement, OneWay, RoundTrips
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS
from airtcp.fit.text import Skips, TextFile, shown

MARK = "# airtcp probes 1"
COLUMNS = "time_s,bytes,rtt_ms,there_ms,back_ms,lost"
FATES = ("", "there", "back", "somewhere")
_LONGEST_MS = 1e8
_WINDOW_S = 5.0
"""Within such a time the least delays of either way are looked for, to tell how the clocks drift."""


def recognises(head: bytes) -> float:
    return 1.0 if head.lstrip().startswith(MARK.encode()) else 0.0


def read(path: Path) -> Measurement:
    text = TextFile(path, Skips("probes of airtcp measure"))
    log = _Log()
    for number, line in text.lines():
        if not log.take(line):
            text.skips.add(number, line)
        if len(log.time_s) == MAX_ROWS:
            text.notes.append(f"Only the first {MAX_ROWS} probes are used.")
            break
    if not log.time_s:
        raise FileError(f"{path}: no line is a probe; the columns are {COLUMNS}")
    text.skips.check(path)
    if not np.isfinite(np.array(log.rtt_ms)).any():
        raise FileError(f"{path}: no probe was answered")
    return log.measurement(path, text)


@dataclass
class _Log:
    """The columns, and what stands above them."""

    facts: dict[str, str] = field(default_factory=dict)
    time_s: array[float] = field(default_factory=lambda: array("d"))
    sizes: array[float] = field(default_factory=lambda: array("d"))
    rtt_ms: array[float] = field(default_factory=lambda: array("d"))
    there_ms: array[float] = field(default_factory=lambda: array("d"))
    back_ms: array[float] = field(default_factory=lambda: array("d"))
    fate: array[int] = field(default_factory=lambda: array("b"))

    def take(self, line: str) -> bool:
        """False: not understood."""
        if line.startswith("#"):
            for word in line[1:].split():
                name, equals, value = word.partition("=")
                if equals:
                    self.facts[name] = value
            return True
        if line == COLUMNS:
            return True
        fields = line.split(",")
        if len(fields) != 6 or fields[5] not in FATES:
            return False
        numbers = [number for each in fields[:5] if (number := _number(each)) is not None]
        if len(numbers) != 5 or not (math.isfinite(numbers[0]) and 0 < numbers[1] <= 65535):
            return False
        fate = FATES.index(fields[5])
        if math.isnan(numbers[2]) != (fate > 0) or numbers[2] < 0:
            return False
        columns = (self.time_s, self.sizes, self.rtt_ms, self.there_ms, self.back_ms)
        for column, number in zip(columns, numbers, strict=True):
            column.append(number)
        self.fate.append(fate)
        return True

    def measurement(self, path: Path, text: TextFile) -> Measurement:
        time_s, sizes = np.array(self.time_s), np.array(self.sizes)
        order = np.argsort(time_s, kind="stable")
        time_s, sizes = time_s[order] - time_s.min(), sizes[order]
        rtt_s, fate = np.array(self.rtt_ms)[order] / 1e3, np.array(self.fate)[order]
        there_s, back_s = np.array(self.there_ms)[order] / 1e3, np.array(self.back_ms)[order] / 1e3
        # Full packets take longer on the link.
        chosen = np.isfinite(rtt_s) & (sizes <= np.sqrt(sizes.min() * sizes.max()))
        if not chosen.any():
            chosen = np.isfinite(rtt_s)
        packet_bytes = float(sizes[chosen].mean())
        known_ways: Flags = chosen & np.isfinite(there_s) & np.isfinite(back_s)
        return Measurement(
            source=path,
            format=f"probes by {shown(self.facts.get('by', 'airtcp'))}",
            round_trips=RoundTrips(time_s[chosen], rtt_s[chosen], packet_bytes),
            fates=_fates(time_s, sizes, fate, has_ways=bool(known_ways.any())),
            one_way=self._one_way(time_s[known_ways], there_s[known_ways], back_s[known_ways], packet_bytes),
            load=_LOADS.get(self.facts.get("load", "none")),
            path_mtu_bytes=_whole(self.facts.get("mtu")),
            skipped=text.skips.skipped(),
            notes=tuple(text.notes),
        )

    def _one_way(
        self, time_s: Floats, there_s: Floats, back_s: Floats, packet_bytes: float
    ) -> tuple[OneWay, ...]:
        if len(time_s) == 0:
            return ()
        error_ms = _number(self.facts.get("clock_error_ms", ""))
        error_s = None if error_ms is None or math.isnan(error_ms) else abs(error_ms) / 1e3
        if error_s is None:
            there_s, back_s = _with_one_clock(time_s, there_s, back_s)
        return (
            OneWay(time_s, there_s, "forward", packet_bytes, error_s),
            OneWay(time_s, back_s, "reverse", packet_bytes, error_s),
        )


_LOADS: dict[str, Direction] = {"there": "forward", "back": "reverse", "both": "both"}


def _fates(time_s: Floats, sizes: Floats, fate: Floats, *, has_ways: bool) -> tuple[Fates, ...]:
    """Of each way where it is known; a packet that was lost on the way there says nothing of the way back."""
    if not has_ways:
        return (_fates_of(time_s, sizes, fate > 0, "both"),)
    known = fate < 3
    arrived = known & (fate != 1)
    ways = [_fates_of(time_s[known], sizes[known], fate[known] == 1, "forward")]
    if arrived.any():
        ways.append(_fates_of(time_s[arrived], sizes[arrived], fate[arrived] == 2, "reverse"))
    return tuple(ways)


def _fates_of(time_s: Floats, sizes: Floats, lost: Flags, direction: Direction) -> Fates:
    interval_s = float(np.median(np.diff(time_s))) if len(time_s) > 1 else None
    has_sizes = len(np.unique(sizes)) > 1
    return Fates(lost, direction, float(sizes.mean()), interval_s, time_s, sizes if has_sizes else None)


def _with_one_clock(time_s: Floats, there_s: Floats, back_s: Floats) -> tuple[Floats, Floats]:
    """Without the clocks' difference and its drift: either least delay becomes half the least round trip."""
    window = (time_s / _WINDOW_S).astype(np.int64)
    differ = [
        (float(time_s[at].mean()), (float(there_s[at].min()) - float(back_s[at].min())) / 2)
        for each in np.unique(window)
        if (at := window == each).any()
    ]
    when, offset = np.array(differ).T
    drift = float(np.polyfit(when, offset, 1)[0]) if len(when) > 2 else 0.0
    there_s, back_s = there_s - drift * time_s, back_s + drift * time_s
    apart = (float(there_s.min()) - float(back_s.min())) / 2
    return there_s - apart, back_s + apart


def _number(text: str) -> float | None:
    """NaN for nothing; None for what is no number that can be."""
    if not text:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) <= _LONGEST_MS else None


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 6 else None


READER = Reader("probes", "probes that `airtcp measure` has logged, idle or loaded", recognises, read)
