"""Parses dates and times as programs print them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_EPOCH = re.compile(r"\d{9,11}(?:\.\d{1,9})?$")
_TIME_OF_DAY = re.compile(r"(\d{1,2}):(\d\d):(\d\d(?:\.\d{1,9})?)$")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_NAMED_MONTH = re.compile(
    rf"(?:\w+,? +)?(?:(\d\d?)\.? +)?({'|'.join(_MONTHS)})\w*,? +(?:(\d\d?),? +)?(?:(\d{{4}}) +)?"
    r"(\d\d?):(\d\d):(\d\d(?:\.\d{1,9})?) *([AaPp][Mm])?(?: +[A-Z]\w{0,5})?(?: +(\d{4}))?$"
)


def seconds(text: str) -> float | None:
    """Returns seconds since 1970, or since midnight without a date; None if the text is no time.

    It accepts a number of seconds, ISO 8601, `Sun Nov 22 03:08:50 UTC 2026`, and `03:08:50`. Named time zones
    are ignored, because only differences matter to a measurement.
    """
    text = text[:80].strip()
    if _EPOCH.match(text):
        return float(text)
    if (time := _TIME_OF_DAY.match(text)) is not None:
        return int(time[1]) * 3600 + int(time[2]) * 60 + float(time[3])
    if (named := _NAMED_MONTH.match(text)) is not None:
        return _named_month(named)
    return iso_seconds(text)


def iso_seconds(text: str) -> float | None:
    """Parses `2026-11-22T03:08:50.123+01:00`; UTC if without a zone."""
    try:
        date = datetime.fromisoformat(text.upper().replace(",", "."))
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _named_month(found: re.Match[str]) -> float | None:
    day, month, later_day, early_year, hour, minute, second, half, year = found.groups()
    hours = int(hour) % 12 + (12 if half.lower() == "pm" else 0) if half else int(hour)
    try:
        date = datetime(
            int(year or early_year or 1970),
            _MONTHS.index(month) + 1,
            int(day or later_day or 0),
            hours,
            int(minute),
            tzinfo=UTC,
        )
    except ValueError:
        return None
    return date.timestamp() + float(second)
