"""Reads rows with named columns, from CSV or JSON: round trips, losses, rates."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from airtcp.fit.columns import Column, columns
from airtcp.fit.labels import labels
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.path_rows import Table
from airtcp.fit.quantities import Kind
from airtcp.fit.readers import FileError
from airtcp.fit.table import several_paths
from airtcp.fit.units import rate_unit, time_unit

MAX_ROWS = 1 << 22
"""Limit per file; 130 MB."""

_NEVER = float("nan")
MISSING = frozenset(
    ("", "-", "--", "*", "nan", "na", "n/a", "null", "none", "lost", "timeout", "timed out", "inf")
)
"""Words for a value that is none, such as the round trip of a lost packet."""
_FLAGS = {"1": 1.0, "true": 1.0, "yes": 1.0, "lost": 1.0, "0": 0.0, "false": 0.0, "no": 0.0}
_LONGEST_RTT_S = 1e5
_DECIMAL = re.compile(r"-?\d+,\d+")
_WITH_UNIT = re.compile(r"([-+\d.,]+)\s*([a-zA-Zµμ][\w/µμ]{0,15}|%)")


class Rows:
    """The contents of the rows that are kept."""

    def __init__(self, path: Path, headings: Sequence[str], *, has_decimal_comma: bool = False) -> None:
        """# Raises
        FileError: no column is useful."""
        self.path = path
        self.has_decimal_comma = has_decimal_comma
        self.headings = headings
        self.columns = columns(path, headings)
        self.labels = labels(headings, self.columns.places)
        self.no_times = 0
        self.count = 0

    def take(self, values: Sequence[object]) -> bool:
        """Adds a row; returns False if it cannot be read."""
        measured = self.columns.measured
        numbers = []
        for column in measured:
            number = self._number(column, _at(values, column.place))
            if number is None:
                return False
            numbers.append(number)
        if not self._take_time(values):
            return False
        for column, number in zip(measured, numbers, strict=True):
            column.values.append(number)
        for each in self.labels:
            each.add(_at(values, each.place))
        self.count += 1
        return True

    @property
    def is_full(self) -> bool:
        return self.count >= MAX_ROWS

    def check_times(self, example: str) -> None:
        """
        # Raises
        FileError if no row could be read because of its time.
        """
        if self.no_times and not self.count:
            names = " and ".join(f"`{clock.heading}`" for _, clock in self.columns.clocks)
            raise FileError(
                f"{self.path}: column {names}: times in an unknown format, {example}; "
                "write them as 2026-11-22 03:08:50, or as seconds"
            )

    def measurement(self, format: str) -> Measurement | Subjects:  # noqa: A002 the field's name
        """Returns what the rows show of each path, without what was skipped.

        # Raises
        FileError: no row shows anything.
        """
        if not self.count:
            raise FileError(f"{self.path}: there are no rows under the heading")
        return several_paths(Table(self.path, format, self.headings, self.columns, self.labels, self.count))

    def _take_time(self, values: Sequence[object]) -> bool:
        if not self.columns.clocks:
            return True
        parts = [str(_at(values, place)).strip() for place, _ in self.columns.clocks]
        if self.has_decimal_comma and len(parts) == 1 and _DECIMAL.fullmatch(parts[0]):
            parts = [parts[0].replace(",", ".")]
        is_taken = self.columns.clocks[0][1].take(" ".join(parts))
        self.no_times += not is_taken
        return is_taken

    def _number(self, column: Column, value: object) -> float | None:
        """Returns seconds or bit/s; NaN if missing, None if unreadable."""
        kind = column.quantity.kind
        if isinstance(value, bool):
            return float(value) if kind in {"lost", "arrived"} else None
        if isinstance(value, int | float):
            number = finite(value)
        else:
            text = str(value).strip() if value is not None else ""
            if kind in {"lost", "arrived"} and column.quantity.scale == 1 and text.lower() in _FLAGS:
                return _FLAGS[text.lower()]
            if text.lower() in MISSING:
                return None if kind == "duration" else _NEVER
            number = self._parsed(text)
            if number is None:
                return self._with_unit(text, kind)
        if number is None or (number < 0 and kind != "rtt"):
            return None
        column.bare += 1
        number *= column.quantity.scale or 1.0
        return None if kind == "rtt" and number > _LONGEST_RTT_S / 1e-6 else number

    def _parsed(self, text: str) -> float | None:
        if self.has_decimal_comma:
            text = text.replace(",", ".")
        try:
            return finite(float(text))
        except ValueError:
            return None

    def _with_unit(self, text: str, kind: Kind) -> float | None:
        """Reads a value that brings its unit, such as `36.1 ms`."""
        found = _WITH_UNIT.fullmatch(text)
        if found is None:
            return None
        number = self._parsed(found[1])
        if found[2] == "%":
            return number / 100 if kind == "lost" and number is not None and 0 <= number <= 100 else None
        unit = rate_unit(found[2]) if kind == "rate" else time_unit(found[2])
        if unit is None or unit.scale is None or number is None or number < 0 or kind in {"lost", "arrived"}:
            return None
        return number * unit.scale


def _at(values: Sequence[object], place: int) -> object:
    return values[place] if place < len(values) else ""


def finite(value: float) -> float | None:
    """Returns a float; None for an unusable number."""
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
