"""Parses dates and times as programs, spreadsheets and `date` print them, in many languages.

A named zone counts by its usual difference from UTC, so that a change to summer time is no jump; one that is
unknown counts as UTC, because only differences matter to a measurement.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime

_LONGEST = 80
_EPOCH = re.compile(r"\d{9,11}(?:[.,]\d{1,9})?")
_COMPACT = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)[T_ -]?(\d\d)(\d\d)(\d\d)(?:[.,](\d{1,9}))?Z?")
_TIME = re.compile(
    r"(?<![\d.:])(\d{1,2})\s*[:hH時时]\s*(\d\d)(?:\s*[:m分.]\s*(\d\d)(?:[.,](\d{1,9}))?\s*[s秒]?)?(?![\d:])"
)
_JOINED_TIME = re.compile(r"(?<=\d)[\sT_:-](\d\d)[:.\-](\d\d)[:.\-](\d\d)(?:[.,](\d{1,9}))?(?=$|[\sZ])")
_MINUTES = re.compile(r"(\d{1,3}):(\d\d)[.,](\d{1,9})")
_OFFSET = re.compile(r"(?:^|\s|UTC|GMT)([+-])(\d\d):?(\d\d)?(?!\d)")
_NUMBERS = re.compile(r"(\d{1,4})\s*([./\-年])\s*(\d{1,2})\s*[./\-月]\s*(\d{1,4})\s*日?")
_WORD = re.compile(r"[^\W\d_]+", re.UNICODE)
_AFTERNOON = re.compile(r"(?<![^\W\d_])([ap])\.?\s?m\b\.?|(上午|午前|下午|午後)", re.IGNORECASE)
_ZONES_H = {
    "utc": 0, "gmt": 0, "z": 0, "wet": 0, "west": 1, "bst": 1, "ist": 5.5, "cet": 1, "mez": 1, "cest": 2,
    "mesz": 2, "eet": 2, "eest": 3, "msk": 3, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7,
    "mdt": -6, "pst": -8, "pdt": -7, "jst": 9, "kst": 9, "aest": 10, "aedt": 11,
}  # fmt: skip
_MONTHS = (
    "jan january januar janv janvier ene enero gen gennaio janeiro januari sty styczen stycznia янв января "
    "led ledna ocak tammi",
    "feb february februar fev fevr fevrier febrero febbraio fevereiro februari lut luty lutego фев февраля "
    "unora subat helmi",
    "mar march mrz marz maerz marzo mars mrt maart marco marzec marca мар марта brezna mart maalis",
    "apr april avr avril abr abril aprile kwi kwiecien kwietnia апр апреля dubna nisan huhti",
    "may mai mayo mag maggio maio mei maj maja мая май kvetna mayis touko",
    "jun june juni juin junio giu giugno junho cze czerwiec czerwca июн июня cervna haziran kesa",
    "jul july juli juil juillet julio lug luglio julho lip lipiec lipca июл июля cervence temmuz heina",
    "aug august aou aout ago agosto augustus augusti sie sierpien sierpnia авг августа srpna agustos elo",
    "sep sept september septembre septiembre set settembre setembro wrz wrzesien wrzesnia сен сентября zari "
    "eylul syys",
    "oct okt october oktober octobre octubre ott ottobre out outubro paz pazdziernik pazdziernika окт "
    "октября rijna ekim loka",
    "nov november novembre noviembre novembro lis listopad listopada ноя ноября listopadu kasim marras",
    "dec dez december dezember decembre dic diciembre dicembre dezembro gru grudzien grudnia дек декабря "
    "prosince aralik joulu",
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_LEAP_YEAR = 1972
"""Of dates without a year."""
ORDERS = ("day/month/year", "month/day/year", "year/month/day")
"""What `01/02/03` may mean."""


@dataclass(frozen=True)
class Moment:
    """A time in seconds since 1970, or since midnight without a date."""

    seconds: float
    orders_s: tuple[float, float, float] | None = None
    """The times in each of `ORDERS`, NaN if there is no such date; None if the text allows one only."""
    has_date: bool = True


def seconds(text: str) -> float | None:
    """Returns seconds since 1970, or since midnight without a date; None if the text is no time."""
    found = moment(text)
    return None if found is None else found.seconds


def moment(text: str) -> Moment | None:
    """Parses any usual form of a date, a time, or both; None if the text is no time."""
    text = text[:_LONGEST].strip().strip('"[]')
    if _EPOCH.fullmatch(text):
        return Moment(float(text.replace(",", ".")))
    iso = iso_seconds(text) if not _TIME.fullmatch(text) and not text.isdecimal() else None
    if iso is not None:
        return Moment(iso)
    try:
        return _compact(text) or _minutes(text) or _parts(text)
    except (ValueError, OverflowError):
        return None


def iso_seconds(text: str) -> float | None:
    """Parses `2026-11-22T03:08:50.123+01:00`; UTC if without a zone."""
    try:
        date = datetime.fromisoformat(text.upper().replace(",", "."))
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _compact(text: str) -> Moment | None:
    """Parses `20220307184741`, `20220307_184741.5`."""
    found = _COMPACT.fullmatch(text)
    if found is None:
        return None
    day_s = _midnight(int(found[1]), int(found[2]), int(found[3]))
    return Moment(day_s + _of_day(found[4], found[5], found[6], found[7]))


def _minutes(text: str) -> Moment | None:
    """Parses `47:41.25`, as spreadsheets show times."""
    found = _MINUTES.fullmatch(text)
    if found is None:
        return None
    return Moment(int(found[1]) * 60 + int(found[2]) + float(f"0.{found[3]}"), has_date=False)


def _parts(text: str) -> Moment | None:
    """Parses a time of day, and whatever around it is a date."""
    time = _TIME.search(text) or _JOINED_TIME.search(text)
    if time is None:
        return _date("", text)
    time_s = _of_day(*time.groups())
    before, after = text[: time.start()], text[time.end() :]
    half = _AFTERNOON.search(after) or _AFTERNOON.search(before)
    if half is not None:
        is_afternoon = (half[1] or "").lower() == "p" or half[2] in ("下午", "午後")
        if not 1 <= int(time[1]) <= 12:
            return None
        time_s += (12 if is_afternoon else 0) * 3600 - (12 * 3600 if time[1] in ("12",) else 0)
        before, after = _AFTERNOON.sub(" ", before), _AFTERNOON.sub(" ", after)
    offset = _OFFSET.search(after.strip(" .)"))
    if offset is not None:
        sign = -1 if offset[1] == "-" else 1
        time_s -= sign * (int(offset[2]) * 3600 + int(offset[3] or 0) * 60)
        after = after[: offset.start()]
    time_s -= 3600 * next((_ZONES_H[word] for word in _plain_words(after) if word in _ZONES_H), 0)
    if not any(letter.isdecimal() for letter in before + after):
        # Beside a time of day may stand a zone, not a sentence.
        return Moment(time_s, has_date=False) if len(_WORD.findall(before + after)) <= 2 else None
    date = _date(before, after)
    if date is None:
        return None
    if date.orders_s is None:
        return Moment(date.seconds + time_s)
    first, second, third = date.orders_s
    return Moment(date.seconds + time_s, (first + time_s, second + time_s, third + time_s))


def _date(before: str, after: str) -> Moment | None:
    """Returns midnight of a date around a time."""
    text = f"{before} {after}"
    if (found := _NUMBERS.search(text)) is not None:
        return _of_numbers(found[1], found[2], found[3], found[4])
    months = [_MONTH_OF[word] for word in _plain_words(text) if word in _MONTH_OF]
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    years = [number for number in numbers if number >= 1000]
    rest = [number for number in numbers if number < 1000]
    # `mar` is also a Tuesday, and then stands before the month.
    if not 1 <= len(months) <= 2 or len(years) > 1 or not 1 <= len(rest) <= 2:
        return None
    if len(rest) == 2:
        if years:
            return None
        years = [2000 + rest[1]]
    return Moment(_midnight(years[0] if years else _LEAP_YEAR, months[-1], rest[0]))


def _of_numbers(first: str, mark: str, second: str, third: str) -> Moment | None:
    if len(first) == 4:
        return Moment(_midnight(int(first), int(second), int(third)))
    if len(third) not in (2, 4) or len(first) > 2:
        return None
    one, two, three = int(first), int(second), int(third)
    late = three if len(third) == 4 else 2000 + three
    orders = (
        _midnight_or_nan(late, two, one),
        _midnight_or_nan(late, one, two) if mark != "." else math.nan,
        _midnight_or_nan(2000 + one, two, three) if len(first) == len(third) else math.nan,
    )
    allowed = [each for each in orders if not math.isnan(each)]
    return Moment(allowed[0], orders) if allowed else None


def _plain_words(text: str) -> list[str]:
    """Returns the words in small letters without accents."""
    plain = unicodedata.normalize("NFKD", text.lower())
    return _WORD.findall("".join(letter for letter in plain if not unicodedata.combining(letter)))


def _of_day(hour: str, minute: str, second: str | None, fraction: str | None) -> float:
    if int(hour) > 24 or int(minute) > 59 or int(second or 0) > 60:
        raise ValueError
    return int(hour) * 3600 + int(minute) * 60 + int(second or 0) + float(f"0.{fraction or 0}")


def _midnight_or_nan(year: int, month: int, day: int) -> float:
    try:
        return _midnight(year, month, day)
    except ValueError:
        return math.nan


def _midnight(year: int, month: int, day: int) -> float:
    return datetime(year, month, day, tzinfo=UTC).timestamp()
