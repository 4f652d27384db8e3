"""Reads CSV with named columns: times, round trips, losses, rates."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from airtcp.fit.measurement import Measurement
from airtcp.fit.quantities import quantity
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS, Rows
from airtcp.fit.text import Skips, TextFile

_SEPARATORS = "\t;,"
_LINES_BEFORE_HEADING = 20


def recognises(head: bytes) -> float:
    text = head.decode("utf-8", "replace").lstrip()
    if text.startswith(("{", "[")):
        # JSON keys would look like headings.
        return 0.0
    lines = [line for line in text.splitlines() if line.strip()]
    for place, line in enumerate(lines[:_LINES_BEFORE_HEADING]):
        if not (headings := _headings(line)):
            continue
        if not (kinds := _kinds(headings)):
            continue
        separator = _separator(line)
        rows = [_fields(row, separator) for row in lines[place + 1 : place + 11]]
        good = [row for row in rows if len(row) == len(headings) and any(map(_is_number, row))]
        if len(good) * 2 < len(rows) or not rows:
            # A sentence may contain the word `time` between commas.
            return 0.3 if good or (not rows and kinds & {"rtt", "rate"}) else 0.0
        if len(headings) == 1:
            return 0.85
        return 0.9 if kinds & {"rtt", "rate"} else 0.6
    return 0.0


def read(path: Path) -> Measurement:
    text = TextFile(path, Skips("rows under the heading"))
    rows: Rows | None = None
    separator = ","
    for number, line in text.lines():
        if rows is None:
            if (headings := _headings(line)) and (_kinds(headings) or number > _LINES_BEFORE_HEADING):
                text.skips.lines -= 1
                separator = _separator(line)
                rows = Rows(path, headings, has_decimal_comma=separator != ",")
            elif not line.startswith("#"):
                text.skips.add(number, line)
        elif line.startswith("#"):
            text.skips.lines -= 1
        elif not rows.take(_fields(line, separator)):
            text.skips.add(number, line)
        elif rows.is_full:
            text.notes.append(f"Only the first {MAX_ROWS} rows are used.")
            break
    if rows is None:
        raise FileError(f"{path}: no heading names a column, e.g. time_s,rtt_ms,lost or bandwidth_kbps")
    text.skips.check(path)
    measured = rows.measurement("CSV")
    return replace(measured, skipped=text.skips.skipped(), notes=(*measured.notes, *text.notes))


def _headings(line: str) -> list[str]:
    """Returns the names in a heading, which may be a comment; a row of values has none."""
    fields = _fields(line.lstrip("# "), _separator(line))
    return [] if any(_is_number(field) for field in fields) else fields


def _kinds(headings: list[str]) -> set[str]:
    kinds: set[str] = {known.kind for heading in headings if (known := quantity(heading))}
    return kinds if kinds & {"rtt", "rate", "time"} else set()


def _separator(line: str) -> str:
    return next((mark for mark in _SEPARATORS if mark in line), ",")


def _fields(line: str, separator: str) -> list[str]:
    try:
        return [field.strip() for field in next(csv.reader((line,), delimiter=separator))]
    except (csv.Error, StopIteration):
        return []


def _is_number(field: str) -> bool:
    try:
        float(field.replace(",", "."))
    except ValueError:
        return False
    return True


READER = Reader("csv", "CSV with named columns: rtt_ms, time_s, lost, bandwidth_kbps, …", recognises, read)
