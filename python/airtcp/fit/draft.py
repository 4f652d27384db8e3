"""The scenario as it is being written: keys with the comments that say where their values come from."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from airtcp.fit.delay import Delay
from airtcp.fit.evidence import shown
from airtcp.fit.findings import Finding, Unknown
from airtcp.fit.loss import Loss

WIDTH = 100
LINK = "wireless"
RUN_S = 60.0
LONGEST_RUN_S = 300.0
"""Runs last as long as what they replay, but no longer than this."""


@dataclass(frozen=True)
class Entry:
    """A key of the link, or of its way back."""

    key: str
    value: str
    """As TOML has it."""
    comments: tuple[str, ...] = ()


@dataclass
class Draft:
    """What the parts of the fit have put down so far."""

    forward: list[Entry] = field(default_factory=list)
    reverse: list[Entry] = field(default_factory=list)
    found: list[Finding] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    """What the scenario names and is to be written beside it."""
    extra_links: list[list[Entry]] = field(default_factory=list)
    """Links in front of the wireless one."""
    run_s: float = RUN_S
    """How long the scenario's runs are."""
    rate_bps: float = 0.0
    """On the way there; of a trace or a log the mean."""
    known_rates_bps: tuple[float, float] | None = None
    """There and back, where they are fixed and not assumed."""
    delay: Delay | None = None
    loss: Loss | None = None
    loss_between: tuple[float, float] | None = None
    """Of full packets in the forward direction."""

    def replays(self, span_s: float) -> None:
        """Something of that length is replayed."""
        self.run_s = max(self.run_s, min(LONGEST_RUN_S, float(int(span_s))))

    def add(self, key: str, value: str, *findings: Finding) -> None:
        """A key of the way there, found."""
        self.found += findings
        self.forward.append(Entry(key, value, tuple(finding.text for finding in findings)))

    def assume(self, key: str, value: str, unknown: Unknown) -> None:
        """A key of the way there for which a default assumed."""
        self.unknown.append(unknown)
        self.forward.append(Entry(key, value, (f"ASSUMED. {unknown.text}",)))

    def carries(self, finding: Finding) -> bool:
        """Is it in a comment of some key?"""
        entries = [*self.forward, *self.reverse, *(entry for link in self.extra_links for entry in link)]
        return any(finding.text in entry.comments for entry in entries)


def text(value: str) -> str:
    """A TOML string."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def table(**keys: str | None) -> str:
    """An inline table of what is not None."""
    return "{ " + ", ".join(f"{key} = {value}" for key, value in keys.items() if value is not None) + " }"


def number(value: float, digits: int = 4) -> str:
    """So many significant digits, no exponent, no zeros at the end."""
    plain = format(Decimal(f"{value:.{digits}g}"), "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def milliseconds(seconds: float, digits: int = 4) -> str:
    """For people and for TOML alike."""
    return f"{number(max(0.0, seconds) * 1e3, digits)}ms"


def duration(seconds: float) -> str:
    """In ms, or in s from a second on; at least a microsecond, as the scenario wants it above zero."""
    return f"{number(seconds)}s" if seconds >= 1 else milliseconds(max(seconds, 1e-6))


def rate(bps: float) -> str:
    """In the unit in which it reads well."""
    for scale, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bps >= scale:
            return f"{number(bps / scale)}{unit}"
    return f"{number(max(1.0, round(bps)))}bit/s"


def percent(share: float, digits: int = 3) -> str:
    """For people."""
    return f"{number(100 * share, digits)} %"


def comment(lines: Iterable[str]) -> str:
    """Wrapped, each line behind a #."""
    wrapped = [
        line
        for paragraph in lines
        for line in (textwrap.wrap(shown(paragraph), WIDTH, break_on_hyphens=False) or [""])
    ]
    return "".join(f"# {line}".rstrip() + "\n" for line in wrapped)


def link(name: str, forward: Iterable[Entry], reverse: Iterable[Entry] = ()) -> str:
    """A `[[link]]` with its `[link.reverse]`, each key under its comments."""
    body = "".join(_entry(entry) for entry in forward)
    back = "".join(_entry(entry) for entry in reverse)
    return f"[[link]]\nname = {text(name)}\n{body}" + (f"\n[link.reverse]\n{back}" if back else "")


def _entry(entry: Entry) -> str:
    return f"{comment(entry.comments)}{entry.key} = {entry.value}\n"
