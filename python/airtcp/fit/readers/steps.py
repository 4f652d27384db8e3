"""Reads data sets of mobile links without a heading: Pensieve's cooked traces, and logs from buses.

A cooked trace has the time in s and the rate in Mbit/s. Logs of HSDPA and LTE from vehicles have six columns:
the time since 1970 in s or ms, that since the start in ms, latitude, longitude, the bytes received since the
row before, and the ms that this took.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from airtcp.fit.measurement import Measurement, Throughput
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS
from airtcp.fit.runs import lay_out
from airtcp.fit.text import Skips, TextFile

_MOST_MBPS = 1e5
_UNLIKELY_BPS = 1e9
"""A mobile link that mostly carries more is unlikelier than a column in kbit/s."""
_EPOCH = (1e8, 1e14)
_LONGEST_STEP_MS = 3.6e6
_NEAR_MS = 50.0
_FEW = 3

Row = tuple[float, float, float]
"""Time in s, duration in s (NaN if the next row tells it), rate in bit/s."""


def recognises(head: bytes) -> float:
    lines = head.decode("utf-8", "replace").splitlines()
    if len(lines) > _FEW:
        # The last line may be truncated.
        lines.pop()
    rows = [_numbers(line) for line in lines if line.strip() and not line.startswith("#")]
    if len(rows) < 2 or rows[0] is None:
        # Above the rows stands what they are.
        return 0.0
    logged = sum(row is not None and _logged(row) is not None for row in rows) / len(rows)
    if logged > 0.5:
        return logged
    pairs = [row for row in rows if row is not None and _cooked(row) is not None]
    steps_back = sum(after[0] <= before[0] for before, after in pairwise(pairs))
    if len(pairs) * 2 < len(rows) or steps_back * 20 > len(pairs):
        return 0.0
    return 0.8 * len(pairs) / len(rows)


def read(path: Path) -> Measurement:
    text = TextFile(path, Skips("rows of a trace, in s and Mbit/s, or of a bus log"))
    columns = [array("d") for _ in range(3)]
    take: Callable[[Sequence[float]], Row | None] | None = None
    for number, line in text.lines():
        if line.startswith("#"):
            text.skips.lines -= 1
            continue
        numbers = _numbers(line)
        if numbers is not None and take is None:
            take = _logged if len(numbers) == 6 else _cooked
        row = take(numbers) if numbers is not None and take is not None else None
        if row is None:
            text.skips.add(number, line)
            continue
        for column, value in zip(columns, row, strict=True):
            column.append(value)
        if len(columns[0]) == MAX_ROWS:
            text.notes.append(f"Only the first {MAX_ROWS} rows are used.")
            break
    if not columns[0]:
        raise FileError(f"{path}: no row is a time in s and a rate in Mbit/s, or six columns of a bus log")
    text.skips.check(path)
    return _measurement(path, text, columns, is_log=take is _logged)


def _measurement(path: Path, text: TextFile, columns: list[array[float]], *, is_log: bool) -> Measurement:
    times, lengths, rates = (np.array(column) for column in columns)
    layout = lay_out(times)
    steps, pauses = layout.intervals()
    interval_s = lengths[layout.order] if is_log else steps
    some = interval_s > 0
    if not some.any():
        raise FileError(f"{path}: no row takes any time")
    interval_s, rate_bps = interval_s[some], rates[layout.order][some]
    if not is_log and float(np.median(rate_bps)) > _UNLIKELY_BPS:
        raise FileError(
            f"{path}: rows without a heading, whose second column may be Mbit/s, kbit/s or no rate at all: "
            f"mostly more than {_UNLIKELY_BPS / 1e6:.0f}; put the columns' names above them, "
            "e.g. time_s,bandwidth_kbps"
        )
    notes = [_LOG_NOTE if is_log else _COOKED_NOTE]
    if pauses and not is_log:
        notes.append(f"Pauses are left out: {pauses}.")
    starts = np.concatenate(([0.0], np.cumsum(interval_s)[:-1]))
    return Measurement(
        source=path,
        format="bus log (bytes and ms)" if is_log else "cooked trace (s, Mbit/s)",
        throughput=(Throughput(starts, interval_s, rate_bps, "forward", is_capacity=True),),
        skipped=text.skips.skipped(),
        notes=(*notes, *text.notes),
    )


_COOKED_NOTE = (
    "Two columns without a heading are read as Pensieve's traces: s and Mbit/s. If they are anything else, "
    "put the columns' names above them, e.g. time_s,rtt_ms."
)
_LOG_NOTE = (
    "Six columns without a heading are read as bus logs: their fifth is bytes, in the ms of the sixth."
)


def _numbers(line: str) -> list[float] | None:
    words = line.replace(",", " ").replace(";", " ").split()
    if len(words) not in (2, 6):
        return None
    try:
        found = [float(word) for word in words]
    except ValueError:
        return None
    return found if all(map(math.isfinite, found)) else None


def _cooked(row: Sequence[float]) -> Row | None:
    if len(row) != 2 or row[0] < 0 or not 0 <= row[1] <= _MOST_MBPS:
        return None
    return row[0], math.nan, row[1] * 1e6


def _logged(row: Sequence[float]) -> Row | None:
    if len(row) != 6:
        return None
    epoch, since_ms, latitude, longitude, received, took_ms = row
    is_place = abs(latitude) <= 90 and abs(longitude) <= 180
    is_time = _EPOCH[0] < epoch < _EPOCH[1] and since_ms >= -_NEAR_MS
    if not (is_place and is_time and received >= 0 and 0 < took_ms <= _LONGEST_STEP_MS):
        return None
    return since_ms / 1e3, took_ms / 1e3, 8e3 * received / took_ms


READER = Reader(
    "steps",
    "traces without a heading: Pensieve's (s, Mbit/s), HSDPA and LTE bus logs (bytes, ms)",
    recognises,
    read,
)
