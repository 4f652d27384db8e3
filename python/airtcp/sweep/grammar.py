"""Parses `--vary KEY=SPEC`: single values, or ranges on a linear or a logarithmic scale."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, cast

from airtcp._engine import rate_in_bps, size_in_bytes, time_in_seconds
from airtcp.sweep.errors import SweepError

Scale = Literal["lin", "log"]

MAX_STEPS = 10_000
"""Limit on the points of one range."""
FIGURES = 6
"""Significant figures of a value inside a range, which is meant to be read and retyped."""

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*([^\W\d_][\w/]*|%)?\s*")
_RANGE_BEGINS = re.compile(rf"\s*{_NUMBER}\s*(?:[^\W\d_][\w/]*|%)?\s*\.\.")
_EXAMPLE = "write for example 10ms..200ms:lin:8 or 1e-7..1e-5:log:12"


@dataclass(frozen=True)
class Value:
    """One value of a key, as a scenario file writes it."""

    text: str
    number: float | None
    """In seconds, bit/s, bytes or as a share if it has a unit; None if it is no number."""


@dataclass(frozen=True)
class Unit:
    """The unit in which the user writes a key's numbers."""

    name: str
    size: float
    """The unit in seconds, bit/s, bytes, or as a share."""
    dimension: str

    def written(self, number: float) -> str:
        """Returns a `number` of this unit as a scenario file writes it."""
        return f"{number_text(number)}{self.name}"


@dataclass(frozen=True)
class Range:
    """From `low` to `high` inclusive, in multiples of `unit`."""

    low: float
    high: float
    scale: Scale
    steps: int | None
    unit: Unit
    whole_bounds: bool
    """Whether both bounds were written as whole numbers."""

    def at(self, share: float) -> float:
        """Returns the value at this share of the way from `low` to `high` on the range's scale, with
        `FIGURES` figures."""
        if share in (0, 1):
            return self.high if share else self.low
        if self.scale == "log":
            exact = math.exp(math.log(self.low) * (1 - share) + math.log(self.high) * share)
        else:
            exact = self.low * (1 - share) + self.high * share
        return float(f"{exact:.{FIGURES}g}")

    def value(self, share: float, *, whole: bool = False) -> Value:
        number = round(self.at(share)) if whole else self.at(share)
        return Value(self.unit.written(number), number * self.unit.size)


@dataclass(frozen=True)
class Vary:
    """A key that varies, or several that take the same values, and those values."""

    keys: tuple[str, ...]
    spec: str
    parts: tuple[Value | Range, ...]

    @property
    def name(self) -> str:
        """Its name in results."""
        return self.keys[0]

    @property
    def range(self) -> Range | None:
        """The range, if there is nothing else."""
        return self.parts[0] if len(self.parts) == 1 and isinstance(self.parts[0], Range) else None


def parse_option(text: str) -> Vary:
    """Parses `KEY=SPEC` or `KEY,KEY=SPEC`. Raises SweepError."""
    key, equals, spec = text.partition("=")
    if not (equals and key.strip() and spec.strip()):
        raise SweepError(f"--vary {text}: write KEY=VALUES; {_EXAMPLE}")
    return parse(key, spec)


def parse(key: str, spec: str) -> Vary:
    """Parses the values of a key, or of several keys with commas between them. Raises SweepError."""
    keys = tuple(word.strip() for word in key.split(","))
    shown = f"--vary {key}={spec}"
    if not all(keys):
        raise SweepError(f"{shown}: a key is empty")
    parts = tuple(_part(item, shown) for item in _split(spec, shown))
    return _checked(Vary(keys, spec.strip(), parts), shown)


def from_values(key: str, values: Sequence[object]) -> Vary:
    """Makes one from Python values. Raises SweepError."""
    texts = [_python_text(value) for value in values]
    return _checked(Vary((key,), ",".join(texts), tuple(map(value_of, texts))), f"{key}={list(values)!r}")


def value_of(text: str) -> Value:
    found = _quantity(text)
    return Value(text, None if found is None else found[0] * found[1].size)


def unit_of(text: str) -> Unit | None:
    """Returns the unit of a number; None if the text is no number."""
    found = _quantity(text)
    return None if found is None else found[1]


def number_text(number: float) -> str:
    """Formats a number briefly, without a `+`, which would end a scheme's term."""
    whole = isinstance(number, int) or (number.is_integer() and abs(number) < 1e15)
    if whole:
        return str(int(number))
    text = repr(number)
    return format(Decimal(text), "f") if "e+" in text else text


def _python_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if hasattr(value, "item"):
        value = value.item()  # NumPy's numbers
    if isinstance(value, float) and math.isfinite(value):
        return repr(value) if not value.is_integer() else number_text(value)
    # TOML writes the rest like JSON.
    return json.dumps(value, ensure_ascii=False)


def _quantity(text: str) -> tuple[float, Unit] | None:
    """Returns the number as written, and its unit."""
    match = _QUANTITY.fullmatch(text)
    if not match:
        return None
    unit = _unit(match[2] or "")
    number = float(match[1])
    return None if unit is None or not math.isfinite(number) else (number, unit)


def _unit(name: str) -> Unit | None:
    if name in ("", "%"):
        return Unit(name, 0.01 if name else 1.0, "number")
    for dimension, read in _DIMENSIONS.items():
        try:
            return Unit(name, float(read(f"1{name}")), dimension)
        except ValueError:
            # The engine knows small units only as integer multiples.
            continue
    return None


_DIMENSIONS: dict[str, Callable[[str], float]] = {
    "time": time_in_seconds,
    "rate": rate_in_bps,
    "size": size_in_bytes,
}


def _split(spec: str, shown: str) -> list[str]:
    """Splits at commas outside brackets and quotes."""
    items, depth, quote, begin = list[str](), 0, "", 0
    for place, letter in enumerate(spec):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
        elif letter == "," and depth == 0:
            items.append(spec[begin:place].strip())
            begin = place + 1
    items.append(spec[begin:].strip())
    if not all(items):
        raise SweepError(f"{shown}: an empty value between the commas")
    return items


def _part(item: str, shown: str) -> Value | Range:
    return _range(item, shown) if _RANGE_BEGINS.match(item) else value_of(item)


def _range(item: str, shown: str) -> Range:
    bounds, *rest = (word.strip() for word in item.split(":"))
    low_text, _, high_text = bounds.partition("..")
    low, high = (_bound(text, shown) for text in (low_text, high_text))
    (low_number, low_unit), (high_number, high_unit) = low, high
    if low_unit.dimension != high_unit.dimension:
        raise SweepError(f"{shown}: {low_text.strip()} and {high_text.strip()} have different kinds of unit")
    scale = rest[0] if rest else "lin"
    if scale not in ("lin", "log") or len(rest) > 2:
        raise SweepError(
            f"{shown}: write `lin` or `log` after the bounds, then the number of points; {_EXAMPLE}"
        )
    unit = low_unit if low_unit == high_unit else high_unit
    found = Range(
        low=low_number if low_unit == unit else float(f"{low_number * low_unit.size / unit.size:.12g}"),
        high=high_number,
        scale=cast(Scale, scale),
        steps=_steps(rest[1], shown) if len(rest) == 2 else None,
        unit=unit,
        whole_bounds=low_unit == high_unit and low_number.is_integer() and high_number.is_integer(),
    )
    _check_order(found, shown)
    return found


def _bound(text: str, shown: str) -> tuple[float, Unit]:
    found = _quantity(text)
    if found is None:
        raise SweepError(f"{shown}: `{text.strip()}` is not a number with a known unit; {_EXAMPLE}")
    return found


def _steps(text: str, shown: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and 2 <= int(text) <= MAX_STEPS):
        raise SweepError(f"{shown}: the number of points is {text!r}; it must be 2 to {MAX_STEPS}")
    return int(text)


def _check_order(found: Range, shown: str) -> None:
    if not found.low < found.high:
        raise SweepError(f"{shown}: the first bound must be below the second")
    if found.scale == "log" and found.low <= 0:
        raise SweepError(f"{shown}: a logarithmic range must start above zero; `0,LOW..HIGH:log:N` adds zero")


def _checked(vary: Vary, shown: str) -> Vary:
    if not vary.parts:
        raise SweepError(f"{shown}: no values")
    counts = Counter(part.text for part in vary.parts if isinstance(part, Value))
    text, count = counts.most_common(1)[0] if counts else ("", 1)
    if count > 1:
        raise SweepError(f"{shown}: {text} is listed twice")
    return vary
