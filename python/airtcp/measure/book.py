"""Records the probes sent, and the fate of each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

from airtcp.fit.readers.probes import COLUMNS, FATES, MARK
from airtcp.measure.prober import Answer

SHOWN = 40
"""Number of a size's latest probes in the sparkline."""
_BARS = "▁▂▃▄▅▆▇█"


@dataclass
class Probe:
    """One packet. Times are in ns."""

    sent_ns: int
    ip_bytes: int
    answer: Answer | None = None
    has_arrived: bool | None = None
    """Whether it arrived at the other end; None if unknown."""

    @property
    def fate(self) -> str:
        """The fate as logs write it."""
        if self.answer is not None:
            return FATES[0]
        return FATES[3] if self.has_arrived is None else FATES[2] if self.has_arrived else FATES[1]


@dataclass
class Book:
    """The probes of one phase."""

    load: str
    """Direction that other traffic fills: `none`, `there` or `back`; `own` if the probes themselves are the
    load; `search` if they search for the path's MTU."""
    probes: dict[int, Probe] = field(default_factory=dict)
    """By sequence number, in order of sending."""

    def sent(self, sequence: int, sent_ns: int, ip_bytes: int) -> None:
        self.probes[sequence] = Probe(sent_ns, ip_bytes)

    def answered(self, answer: Answer) -> None:
        """Records an answer; only the first counts."""
        probe = self.probes.get(answer.sequence)
        if probe is not None and probe.answer is None:
            probe.answer = answer

    def lines(self, facts: dict[str, str]) -> Iterator[str]:
        """Yields the log that `fit` reads."""
        yield MARK
        began_ns = min((probe.sent_ns for probe in self.probes.values()), default=0)
        facts = {**facts, "load": self.load, "began_s": f"{began_ns / 1e9:.3f}"}
        yield "# " + " ".join(f"{name}={value}" for name, value in facts.items())
        yield COLUMNS
        for probe in self.probes.values():
            answer = probe.answer
            times = [""] * 3
            if answer is not None:
                times = [_ms(answer.rtt_ns), _ms(answer.there_ns), _ms(answer.back_ns)]
            yield f"{(probe.sent_ns - began_ns) / 1e9:.6f},{probe.ip_bytes},{','.join(times)},{probe.fate}"


@dataclass(frozen=True)
class Row:
    """The table's row on packets of one size."""

    ip_bytes: int
    sent: int
    lost: int
    lost_there: int
    lost_back: int
    least_ms: float
    middle_ms: float
    p95_ms: float
    line: str


def row(probes: list[Probe], settled_ns: int) -> Row | None:
    """Summarises probes sent before `settled_ns` or answered; others may be in flight."""
    known = [probe for probe in probes if probe.answer or probe.sent_ns < settled_ns]
    if not known:
        return None
    rtts = sorted(probe.answer.rtt_ns / 1e6 for probe in known if probe.answer)
    fates = [probe.fate for probe in known]
    return Row(
        known[0].ip_bytes,
        len(known),
        len(known) - len(rtts),
        fates.count(FATES[1]),
        fates.count(FATES[2]),
        rtts[0] if rtts else math.nan,
        median(rtts) if rtts else math.nan,
        rtts[min(len(rtts) - 1, int(0.95 * len(rtts)))] if rtts else math.nan,
        sparkline([probe.answer.rtt_ns / 1e6 if probe.answer else None for probe in known[-SHOWN:]]),
    )


def sparkline(values: list[float | None]) -> str:
    """Draws a bar each, from the lowest to the highest value; × for a missing one."""
    known = [value for value in values if value is not None]
    if not known:
        return "×" * len(values)
    least, most = min(known), max(known)
    # Values that differ by less than a tenth of the lowest are drawn level.
    span = max(most - least, 0.1 * least, 1e-9)
    top = len(_BARS) - 1
    return "".join(
        "×" if value is None else _BARS[min(top, int((value - least) / span * top + 0.5))] for value in values
    )


def _ms(ns: int | None) -> str:
    return "" if ns is None else f"{ns / 1e6:.3f}"
