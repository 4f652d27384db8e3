"""Reads bandwidth logs: a JSON list of objects, such as {duration_ms, bandwidth_kbps, latency_ms}."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from airtcp.fit.json_objects import objects
from airtcp.fit.measurement import Measurement, Replay, Subjects
from airtcp.fit.quantities import quantity
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS, Rows
from airtcp.fit.subjects import each
from airtcp.fit.text import Skips, TextFile, shown

_KEY = re.compile(r'"([^"\\]{1,60})"\s*:')
_LONGEST_ENTRY = 1 << 20
_NAMED = 3
_WHAT = "entries of a log"
_REPLAYED = {"duration_ms", "bandwidth_kbps"}


def recognises(head: bytes) -> float:
    text = head.decode("utf-8", "replace").lstrip()
    if not re.match(r"(\[\s*)?\{", text):
        return 0.0
    keys = set(_KEY.findall(text))
    kinds = {known.kind for key in keys if (known := quantity(key))}
    if not kinds & {"rate", "rtt"}:
        return 0.0
    if keys >= _REPLAYED:
        return 0.95
    return 0.8 if text.startswith("[") else 0.6


def read(path: Path) -> Measurement | Subjects:
    text = TextFile(path, Skips(_WHAT, unit="entry", units="entries"))
    rows: Rows | None = None
    later: set[str] = set()
    for number, entry, begins in objects(text, _LONGEST_ENTRY):
        if rows is None:
            keys = list(entry)
            rows = Rows(path, keys)
        if not rows.take([entry.get(key) for key in keys]):
            text.skips.add(number, begins)
        if len(later) < _NAMED:
            later |= {key[:60] for key in entry if key not in keys and quantity(key)}
        if rows.is_full:
            text.notes.append(f"Only the first {MAX_ROWS} entries are used.")
            break
    if rows is None:
        raise FileError(f"{path}: the list has no entry that can be read")
    text.skips.check(path)
    if later:
        names = ", ".join(f"`{shown(key)}`" for key in sorted(later)[:_NAMED])
        text.notes.append(f"The first entry lacks {names}: left out.")
    return each(rows.measurement("log (JSON)"), lambda measured: _replayed(measured, text, set(keys)))


def _replayed(measured: Measurement, text: TextFile, keys: set[str]) -> Measurement:
    replay = None
    if measured.throughput and not measured.throughput[0].rate_bps.any():
        raise FileError(f"{text.path}: every rate in the log is 0")
    if keys >= _REPLAYED and text.is_plain and not text.skips.count and not text.notes:
        replay = Replay("log", measured.throughput[0].direction)
    return replace(
        measured, replay=replay, skipped=text.skips.skipped(), notes=(*measured.notes, *text.notes)
    )


READER = Reader(
    "log",
    "a bandwidth log: a JSON list of {duration_ms, bandwidth_kbps, latency_ms}",
    recognises,
    read,
)
