"""Interprets units of headings and values, whose letters' case may decide: Mb/s are bits, MB/s are bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TIMES_S = {
    "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0,
    "ms": 1e-3, "msec": 1e-3, "msecs": 1e-3, "millis": 1e-3, "millisec": 1e-3, "millisecond": 1e-3,
    "milliseconds": 1e-3, "us": 1e-6, "usec": 1e-6, "µs": 1e-6, "micros": 1e-6, "microsecond": 1e-6,
    "microseconds": 1e-6, "ns": 1e-9, "nsec": 1e-9, "nanos": 1e-9, "nanosecond": 1e-9, "nanoseconds": 1e-9,
    "min": 60.0, "mins": 60.0, "minute": 60.0, "minutes": 60.0, "h": 3600.0, "hour": 3600.0, "hours": 3600.0,
}  # fmt: skip
_PREFIXES = {
    "": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "kilo": 1e3, "mega": 1e6, "giga": 1e9, "tera": 1e12,
    "ki": 2.0**10, "mi": 2.0**20, "gi": 2.0**30, "kibi": 2.0**10, "mebi": 2.0**20, "gibi": 2.0**30,
}  # fmt: skip
_RATE = re.compile(
    r"(?P<prefix>kilo|mega|giga|tera|kibi|mebi|gibi|[kmg]i|[kmgt])?_?(?P<thing>bits?|bytes?|octets?|b|o)"
    r"(?P<per>(?:[/_]|_?per_?)s(?:ec(?:ond)?s?)?|_?s-1|ps)?",
    re.IGNORECASE,
)
_FULL_NAMES = {"": "", "k": "kilo", "m": "mega", "g": "giga", "t": "tera"}


@dataclass(frozen=True)
class Unit:
    """A unit's factor to seconds or bit/s; None if it may be several."""

    scale: float | None
    meanings: tuple[str, ...] = ()
    """What it may be, as the end of a column's name, if it may be several."""


ANY_RATE = Unit(
    None,
    ("bps", "kbps", "mbps", "bytes_per_second", "kilobytes_per_second", "megabytes_per_second"),
)
"""The unit of a rate that has none."""


def time_unit(text: str) -> Unit | None:
    """Returns the unit of a time, such as `ms`; None if it is none."""
    scale = _TIMES_S.get(text.lower().replace("μ", "µ"))
    return None if scale is None else Unit(scale)


def rate_unit(text: str, *, is_shouted: bool = False, is_capitalised: bool = False) -> Unit | None:
    """Returns the unit of a rate, such as `Mbit/s` or `mbit_s`; None if it is none.

    A capital B means no byte where the whole heading `is_shouted`, or where every word `is_capitalised`.
    """
    found = _RATE.fullmatch(text)
    if found is None:
        return None
    prefix, thing, per = found["prefix"] or "", found["thing"], found["per"] or ""
    letter = thing.lower()
    if not per and not letter.startswith("bit"):
        # MB and kB are amounts.
        return None
    scale = _PREFIXES[prefix.lower()]
    if letter == "o" or letter.startswith(("byte", "octet")):
        return Unit(8 * scale) if prefix or letter != "o" else None
    if letter == "b":
        return _of_letter(prefix, thing + per, scale, is_shouted, is_capitalised)
    return Unit(scale)


def _of_letter(prefix: str, rest: str, scale: float, is_shouted: bool, is_capitalised: bool) -> Unit:
    """Returns bits for `b`, bytes for `B`, and either where somebody wrote as it came."""
    is_for_certain = rest[1:] == rest[1:].lower()
    if (
        rest == "bps"
        or (rest == "BPS" and is_shouted)
        or (rest[0] == "b" and prefix.isupper() and is_for_certain)
    ):
        return Unit(scale)
    if rest[0] == "b" and not prefix:
        return Unit(scale)
    is_word = rest == "Bps" and is_capitalised and not prefix
    if rest[0] == "B" and is_for_certain and not (is_shouted or is_word):
        return Unit(8 * scale)
    short, full = prefix.lower(), _FULL_NAMES.get(prefix.lower(), prefix.lower())
    bits = f"{short}bps" if short in _FULL_NAMES else f"{short}bits_per_second"
    return Unit(None, (bits, f"{full}bytes_per_second"))
