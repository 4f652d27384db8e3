"""Results of estimators: a value with its interval, and the method."""

from __future__ import annotations

from dataclasses import dataclass

CONFIDENCE = 0.95
"""Confidence of every interval here."""
Z = 1.959963984540054
"""Two-sided normal quantile of `CONFIDENCE`."""


@dataclass(frozen=True)
class Value:
    """An estimate and its 95 % interval; an end is None if it is unknown."""

    best: float
    low: float | None = None
    high: float | None = None

    def includes(self, value: float) -> bool:
        """Returns whether `value` is inside the interval. A missing end excludes nothing."""
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)


@dataclass(frozen=True)
class Finding:
    """Something that the measurements show."""

    quantity: str
    """In words, e.g. `least round trip`."""
    shown: str
    """The value with its unit."""
    interval: str
    """The 95 % interval with its unit, or empty."""
    how: str
    """The method, in a sentence."""

    @property
    def text(self) -> str:
        """The text on one line."""
        interval = f" ({self.interval})" if self.interval else ""
        return f"{self.quantity}: {self.shown}{interval}. {self.how}"


@dataclass(frozen=True)
class Reading:
    """One possible meaning of the measurements, and the keys of the fitted scenario that express it."""

    name: str
    """The end of a sentence that begins with `if`."""
    keys: tuple[tuple[str, str], ...]
    """As for `--set`; empty for the assumed reading."""
    likelihood: float | None = None
    """Of this reading, with the others as alternatives; None if the measurements do not tell."""


@dataclass(frozen=True)
class Unknown:
    """Something that the measurements do not show."""

    quantity: str
    why: str
    """The reason, in a sentence."""
    stand_in: str
    """The default in its place."""
    remedy: str
    """What to measure or to change, in a sentence."""
    readings: tuple[Reading, ...] = ()
    """All readings that the measurements allow, if they can be listed; the assumed one first."""

    @property
    def text(self) -> str:
        """The text on one line."""
        return f"{self.quantity}: {self.why} {self.stand_in} {self.remedy}"
