"""What an estimator answers: a value with its interval, and how it was got."""

from __future__ import annotations

from dataclasses import dataclass

CONFIDENCE = 0.95
"""Of every interval here."""
Z = 1.959963984540054
"""Two-sided normal quantile of `CONFIDENCE`."""


@dataclass(frozen=True)
class Value:
    """An estimate and its 95 % interval; the ends are None where none can be given."""

    best: float
    low: float | None = None
    high: float | None = None

    def includes(self, value: float) -> bool:
        """Is `value` inside the interval? An end that is missing excludes nothing."""
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)


@dataclass(frozen=True)
class Finding:
    """Something that the measurements say of the path."""

    quantity: str
    """In words, e.g. `least round trip`."""
    shown: str
    """The value with its unit."""
    interval: str
    """The 95 % interval with its unit, or empty."""
    how: str
    """How it was got: a sentence."""

    @property
    def text(self) -> str:
        """On one line."""
        interval = f" ({self.interval})" if self.interval else ""
        return f"{self.quantity}: {self.shown}{interval}. {self.how}"


@dataclass(frozen=True)
class Reading:
    """One thing that the measurements can mean, and the keys of the fitted scenario that say so."""

    name: str
    """The rest of a sentence that begins with `if`."""
    keys: tuple[tuple[str, str], ...]
    """As for `--set`; empty for the one that assumed."""


@dataclass(frozen=True)
class Unknown:
    """Something that the measurements do not say."""

    quantity: str
    why: str
    """A sentence."""
    stand_in: str
    """The default in its place."""
    remedy: str
    """What to measure or to change: a sentence."""
    readings: tuple[Reading, ...] = ()
    """All that the measurements allow, where these can be listed; the first assumed."""

    @property
    def text(self) -> str:
        """On one line."""
        return f"{self.quantity}: {self.why} {self.stand_in} {self.remedy}"
