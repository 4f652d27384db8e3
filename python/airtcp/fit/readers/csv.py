"""Reads CSV with named columns: times, round trips, losses, rates; of one path or of several."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from airtcp.fit.known_tables import known_table
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.quantities import quantity
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS, Rows
from airtcp.fit.subjects import each
from airtcp.fit.text import Skips, TextFile, head, shown

_SEPARATORS = "\t;,|"
_LINES_BEFORE_HEADING = 20
_ROWS_LOOKED_AT = 10
_LONGEST_HEADING = 80


def recognises(head: bytes) -> float:
    lines = _lines(head)
    place = _heading_place(lines)
    if place is None:
        return 0.0
    headings, rows = _headings(lines[place]), _first_rows(lines, place)
    kinds = _kinds(headings)
    good = [row for row in rows if len(row) == len(headings) and any(map(_begins_with_number, row))]
    if len(good) * 2 < len(rows) or not rows:
        # A sentence may contain the word `time` between commas.
        return 0.3 if kinds and (good or (not rows and kinds & {"rtt", "rate"})) else 0.0
    if not kinds:
        return 0.25
    if len(headings) == 1:
        return 0.85
    return 0.9 if kinds & {"rtt", "rate"} else 0.6


def read(path: Path) -> Measurement | Subjects:
    text = TextFile(path, Skips("rows under the heading"))
    heading = _heading(path)
    rows: Rows | None = None
    first = ""
    for number, line in text.lines():
        if rows is None:
            if line == heading:
                text.skips.lines -= 1
                separator = _separator(line)
                rows = Rows(path, _headings(line), has_decimal_comma=separator not in ",|")
            elif not line.startswith("#"):
                text.skips.add(number, line)
        elif line.startswith("#"):
            text.skips.lines -= 1
        elif not rows.take(_fields(line, separator)):
            text.skips.add(number, line)
            first = first or f"line {number}: `{shown(line)}`"
        elif rows.is_full:
            text.notes.append(f"Only the first {MAX_ROWS} rows are used.")
            break
    if rows is None:
        raise FileError(f"{path}: no heading names a column, e.g. time_s,rtt_ms,lost or bandwidth_kbps")
    rows.check_times(first)
    text.skips.check(path)
    skipped, notes = text.skips.skipped(), text.notes
    return each(
        rows.measurement("CSV"),
        lambda measured: replace(measured, skipped=skipped, notes=(*measured.notes, *notes)),
    )


def _heading(path: Path) -> str:
    """Returns the line with the headings.

    # Raises
    FileError: no line is one.
    """
    lines = _lines(head(path))
    place = _heading_place(lines)
    if place is None:
        first = f"; the first line is `{shown(lines[0])}`" if lines else ""
        raise FileError(
            f"{path}: no heading names a column, e.g. time_s,rtt_ms,lost or bandwidth_kbps{first}"
        )
    return lines[place]


def _lines(start: bytes) -> list[str]:
    text = start.decode("utf-8", "replace").lstrip()
    if text.startswith(("{", "[")):
        # JSON keys would look like headings.
        return []
    return [line.strip() for line in text.splitlines() if line.strip()]


def _heading_place(lines: Sequence[str]) -> int | None:
    """Returns the first line with a known name, or else the first above rows with as many fields."""
    candidates = [place for place in range(min(len(lines), _LINES_BEFORE_HEADING)) if _headings(lines[place])]
    named = next((place for place in candidates if _kinds(_headings(lines[place]))), None)
    return (
        named
        if named is not None
        else next((place for place in candidates if _is_above_rows(lines, place)), None)
    )


def _is_above_rows(lines: Sequence[str], place: int) -> bool:
    width = len(_headings(lines[place]))
    rows = _first_rows(lines, place)
    return (
        width > 1
        and len(rows) > 1
        and all(len(row) == width and any(map(_begins_with_number, row)) for row in rows)
    )


def _first_rows(lines: Sequence[str], place: int) -> list[list[str]]:
    separator = _separator(lines[place])
    return [_fields(row, separator) for row in lines[place + 1 : place + 1 + _ROWS_LOOKED_AT]]


def _headings(line: str) -> list[str]:
    """Returns the names in a heading, which may be a comment; a row of values has none."""
    fields = _fields(line.lstrip("# "), _separator(line))
    is_values = any(_is_number(field) or len(field) > _LONGEST_HEADING for field in fields)
    return [] if is_values else fields


def _kinds(headings: list[str]) -> set[str]:
    if known_table(headings) is not None:
        return {"rate"}
    kinds: set[str] = {known.kind for heading in headings if (known := quantity(heading))}
    return kinds if kinds & {"rtt", "rate", "time"} else set()


def _separator(line: str) -> str:
    return next((mark for mark in _SEPARATORS if mark in line), ",")


def _fields(line: str, separator: str) -> list[str]:
    try:
        return [field.strip() for field in next(csv.reader((line,), delimiter=separator))]
    except (csv.Error, StopIteration):
        return []


def _begins_with_number(field: str) -> bool:
    """Whether it is a number, with or without its unit."""
    return field.lstrip("-+.,")[:1].isdigit()


def _is_number(field: str) -> bool:
    try:
        float(field.replace(",", "."))
    except ValueError:
        return False
    return True


READER = Reader("csv", "CSV with named columns: rtt_ms, time_s, lost, bandwidth_kbps, …", recognises, read)
