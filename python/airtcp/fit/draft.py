"""The scenario under construction: keys, with comments on the sources of their values."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from airtcp.fit.delay import Delay
from airtcp.fit.evidence import From, shown
from airtcp.fit.findings import Finding, Unknown
from airtcp.fit.loss import Loss

if TYPE_CHECKING:
    from airtcp.fit.bottleneck import Settled

WIDTH = 100
LINK = "wireless"
RUN_S = 60.0
LONGEST_RUN_S = 300.0
"""Runs last as long as the recording they replay, but no longer than this."""


@dataclass(frozen=True)
class Entry:
    """A key of the link, or of its reverse direction."""

    key: str
    value: str
    """The value in TOML."""
    comments: tuple[str, ...] = ()


@dataclass
class Draft:
    """What the parts of the fit have written so far."""

    forward: list[Entry] = field(default_factory=list)
    reverse: list[Entry] = field(default_factory=list)
    found: list[Finding] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    """Files that the scenario names, to be written beside it."""
    extra_links: list[list[Entry]] = field(default_factory=list)
    """Links in front of the wireless one."""
    run_s: float = RUN_S
    """Duration of the scenario's runs."""
    rate_bps: float = 0.0
    """Forward rate; the mean of a trace or a log."""
    known_rates_bps: tuple[float, float] | None = None
    """Forward and reverse rate, if fixed and not assumed."""
    delay: Delay | None = None
    loss: Loss | None = None
    settled: From[Settled] | None = None
    """What a search among the readings of a transfer has found, if one was needed."""
    loss_between: tuple[float, float] | None = None
    """Interval of the loss of full packets in the forward direction."""

    def replays(self, span_s: float) -> None:
        """Notes that a recording of that length is replayed."""
        self.run_s = max(self.run_s, min(LONGEST_RUN_S, float(int(span_s))))

    def add(self, key: str, value: str, *findings: Finding) -> None:
        """Adds a forward key that was measured."""
        self.found += findings
        self.forward.append(Entry(key, value, tuple(finding.text for finding in findings)))

    def assume(self, key: str, value: str, unknown: Unknown) -> None:
        """Adds a forward key with an assumed default."""
        self.unknown.append(unknown)
        self.forward.append(Entry(key, value, (f"ASSUMED. {unknown.text}",)))

    def carries(self, finding: Finding) -> bool:
        """Returns whether the comment of some key mentions it."""
        entries = [*self.forward, *self.reverse, *(entry for link in self.extra_links for entry in link)]
        return any(finding.text in entry.comments for entry in entries)


def text(value: str) -> str:
    """Formats a TOML string."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def table(**keys: str | None) -> str:
    """Formats an inline table of the values that are not None."""
    return "{ " + ", ".join(f"{key} = {value}" for key, value in keys.items() if value is not None) + " }"


def number(value: float, digits: int = 4) -> str:
    """Formats a number with that many significant digits, without exponent or trailing zeros."""
    plain = format(Decimal(f"{value:.{digits}g}"), "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def milliseconds(seconds: float, digits: int = 4) -> str:
    """Formats milliseconds, for both text and TOML."""
    return f"{number(max(0.0, seconds) * 1e3, digits)}ms"


def duration(seconds: float) -> str:
    """Formats a time in ms, or in s from one second up; at least 1 µs, because a scenario requires more than
    zero."""
    return f"{number(seconds)}s" if seconds >= 1 else milliseconds(max(seconds, 1e-6))


def rate(bps: float) -> str:
    """Formats a rate in a readable unit."""
    for scale, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bps >= scale:
            return f"{number(bps / scale)}{unit}"
    return f"{number(max(1.0, round(bps)))}bit/s"


def percent(share: float, digits: int = 3) -> str:
    """Formats a share in percent."""
    return f"{number(100 * share, digits)} %"


def comment(lines: Iterable[str]) -> str:
    """Wraps text into comment lines."""
    wrapped = [
        line
        for paragraph in lines
        for line in (textwrap.wrap(shown(paragraph), WIDTH, break_on_hyphens=False) or [""])
    ]
    return "".join(f"# {line}".rstrip() + "\n" for line in wrapped)


def link(name: str, forward: Iterable[Entry], reverse: Iterable[Entry] = ()) -> str:
    """Formats a `[[link]]` with its `[link.reverse]`, each key below its comments."""
    body = "".join(_entry(entry) for entry in forward)
    back = "".join(_entry(entry) for entry in reverse)
    return f"[[link]]\nname = {text(name)}\n{body}" + (f"\n[link.reverse]\n{back}" if back else "")


def _entry(entry: Entry) -> str:
    return f"{comment(entry.comments)}{entry.key} = {entry.value}\n"
