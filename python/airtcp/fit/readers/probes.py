"""Probes as `airtcp measure` logs them: a packet a line, its round trip, each way's delay, its fate.

# airtcp probes 1
# host=192.0.2.1 by=airtcp clock_error_ms=0 mtu=1500 load=none began_s=1798765432.1
time_s,bytes,rtt_ms,there_ms,back_ms,lost
0.000000,84,40.123,20.050,20.073,
0.050000,1500,,,,there
0.100000,84,,,,back
0.150000,1500,,,,somewhere

Of probes so dense that they are a load themselves, `load=own`, the fates count and not the delays. Those of a
search for the path's MTU, `load=search`, show only which lengths pass; `told` is what a router reported.
`radio_before` and `radio_after` are what the radio said of itself (`fit/radio.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from airtcp.fit.by_length import by_length
from airtcp.fit.measurement import Direction, Measurement, time_of_day
from airtcp.fit.probe_series import ProbeSeries
from airtcp.fit.radio import Radio, radio_of
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS
from airtcp.fit.text import Skips, TextFile, shown

MARK = "# airtcp probes 1"
COLUMNS = "time_s,bytes,rtt_ms,there_ms,back_ms,lost"
FATES = ("", "there", "back", "somewhere")
_LONGEST_MS = 1e8


def recognises(head: bytes) -> float:
    return 1.0 if head.lstrip().startswith(MARK.encode()) else 0.0


def read(path: Path) -> Measurement:
    text = TextFile(path, Skips("probes of airtcp measure"))
    log = _Log()
    for number, line in text.lines():
        if not log.take(line):
            text.skips.add(number, line)
        if len(log.probes) == MAX_ROWS:
            text.notes.append(f"Only the first {MAX_ROWS} probes are used.")
            break
    if not len(log.probes):
        raise FileError(f"{path}: no line is a probe; the columns are {COLUMNS}")
    text.skips.check(path)
    return log.measurement(path, text)


@dataclass
class _Log:
    """The probes and the lines above them."""

    facts: dict[str, str] = field(default_factory=dict)
    probes: ProbeSeries = field(default_factory=ProbeSeries)

    def take(self, line: str) -> bool:
        """Returns False if the line is not understood."""
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
        time_s, ip_bytes, rtt_ms, there_ms, back_ms = numbers
        fate = FATES.index(fields[5])
        if math.isnan(rtt_ms) != (fate > 0) or rtt_ms < 0:
            return False
        self.probes.add(time_s, ip_bytes, fate, rtt_ms / 1e3, there_ms / 1e3, back_ms / 1e3)
        return True

    def measurement(self, path: Path, text: TextFile) -> Measurement:
        error_ms = _number(self.facts.get("clock_error_ms", ""))
        error_s = None if error_ms is None or math.isnan(error_ms) else abs(error_ms) / 1e3
        trips, fates, ways = self.probes.measured(error_s, _moment(self.facts.get("began_s", "")))
        told = _whole(self.facts.get("told"))
        if self.facts.get("load") == "search":
            # Each length depends on the fates of others: they show what passes, and no loss.
            lengths = tuple(count for each in fates for count in by_length(each))
            return Measurement(path, "search of the path MTU", lengths=lengths, reported_mtu_bytes=told)
        if trips is None:
            raise FileError(f"{path}: no probe was answered")
        is_dense = self.facts.get("load") == "own"
        return Measurement(
            source=path,
            format=f"{'dense ' if is_dense else ''}probes by {shown(self.facts.get('by', 'airtcp'))}",
            round_trips=None if is_dense else trips,
            fates=fates,
            one_way=() if is_dense else ways,
            load=_LOADS.get(self.facts.get("load", "none")),
            path_mtu_bytes=_whole(self.facts.get("mtu")),
            radio=self._radio(),
            skipped=text.skips.skipped(),
            notes=tuple(text.notes),
        )

    def _radio(self) -> Radio | None:
        before, after = (radio_of(self.facts.get(f"radio_{moment}", "")) for moment in ("before", "after"))
        return after.since(before) if after is not None else before and before.since(None)


_LOADS: dict[str, Direction] = {"there": "forward", "back": "reverse", "both": "both"}


def _number(text: str) -> float | None:
    """Returns NaN for an empty field, None for an invalid number."""
    if not text:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) <= _LONGEST_MS else None


def _moment(text: str) -> float | None:
    try:
        return time_of_day(float(text))
    except ValueError:
        return None


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 6 else None


READER = Reader("probes", "probes that `airtcp measure` has logged, idle or loaded", recognises, read)
