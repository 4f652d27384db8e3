"""Reads SmokePing's data as printed by `rrdtool fetch HOST.rrd AVERAGE` or `rrdtool dump HOST.rrd`."""

from __future__ import annotations

import math
import re
from array import array
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from airtcp.fit.measurement import LossCount, Measurement, RoundTrips, Subjects
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS
from airtcp.fit.text import Skips, TextFile

_FETCHED = re.compile(r"(\d{9,11}):((?: +\S{1,40})+)$")
_DUMPED = re.compile(r"<!--[^>]{0,80}/ *(\d{9,11}) *-->\s*<row>(.*)</row>$")
_CELL = re.compile(r"<v>\s*([^<\s]{1,40})\s*</v>")
_CONSOLIDATION = re.compile(r"<cf>\s*(\w{1,20})\s*</cf>")
_STEPS_PER_ROW = re.compile(r"<pdp_per_row>\s*(\d{1,9})\s*</pdp_per_row>")
_NAME = re.compile(r"<name>\s*(\w{1,40})\s*</name>")
_PING = re.compile(r"ping\d{1,3}$")
_RRD = b"RRD\0"
_LONGEST_S = 1e5
_MOST_PINGS = 200
_MOST_STEPS = 100_000
_MOST_PARTS = 64
_USUAL_BYTES = 84.0


def recognises(head: bytes) -> float:
    if head.startswith(_RRD):
        return 0.9
    text = head.decode("utf-8", "replace").lstrip()
    names = text.split("\n", 1)[0].split() if "<rrd>" not in text else _NAME.findall(text)
    return 0.98 if "loss" in names and any(_PING.match(name) for name in names) else 0.0


def read(path: Path) -> Measurement | Subjects:
    text = TextFile(path, Skips("SmokePing's data"))
    parts = [_Rows()]
    pings = 0
    for number, line in text.lines():
        if line.startswith("RRD\0"):
            raise FileError(
                f"{path} is a database: rrdtool fetch {path} AVERAGE > smoke.txt makes a text of it"
            )
        if parts[-1].is_of_another(line) and len(parts) < _MOST_PARTS:
            pings += len(parts[-1].rtt_s)
            parts.append(_Rows())
        if not parts[-1].take(line):
            text.skips.add(number, line)
        if pings + len(parts[-1].rtt_s) >= MAX_ROWS:
            text.notes.append(f"Only the first {MAX_ROWS} pings are used.")
            break
    text.skips.check(path)
    of = {str(n): rows.measurement(path, text) for n, rows in enumerate(parts, 1) if rows.rtt_s}
    if not of:
        raise FileError(f"{path}: no ping of SmokePing's was answered")
    return Subjects("databases, in order", of) if len(of) > 1 else next(iter(of.values()))


@dataclass
class _Archive:
    """One of the archives in a dump. The finest comes first, and coarser ones reach further back: of these
    only the rows before it are used. _Archives of minima and maxima have no means."""

    is_mean: bool = True
    steps: int = 1
    """How many steps a row stands for."""
    until_s: float = math.inf
    began_s: float = math.inf

    def next(self) -> _Archive:
        return _Archive(until_s=min(self.until_s, self.began_s))

    def take(self, line: str) -> None:
        if (consolidation := _CONSOLIDATION.search(line)) is not None:
            self.is_mean = consolidation[1] == "AVERAGE"
        if (steps := _STEPS_PER_ROW.search(line)) is not None:
            self.steps = min(max(1, int(steps[1])), _MOST_STEPS)

    def counts(self, at_s: float) -> bool:
        return self.is_mean and at_s < self.until_s

    def known(self, at_s: float) -> None:
        self.began_s = min(self.began_s, at_s)


@dataclass
class _Rows:
    """A row per step; its round trips are sorted, and their order is unknown."""

    names: list[str] = field(default_factory=list)
    archive: _Archive = field(default_factory=_Archive)
    starts_s: array[float] = field(default_factory=lambda: array("d"))
    """Start of each step that has a ping."""
    counts: array[int] = field(default_factory=lambda: array("L"))
    rtt_s: array[float] = field(default_factory=lambda: array("d"))
    packets: int = 0
    lost: float = 0.0
    """Rows that stand for several steps have their mean, and so fractions."""

    def is_of_another(self, line: str) -> bool:
        """Whether the line begins what rrdtool prints of another database."""
        return bool(self.names) and (line.startswith("<rrd>") or _is_heading(line))

    def take(self, line: str) -> bool:
        """Returns False if the line is not understood."""
        if (name := _NAME.search(line)) is not None:
            self.names.append(name[1])
            return True
        if (found := _DUMPED.search(line)) is not None:
            if self.archive.counts(int(found[1])):
                self._row(int(found[1]), _CELL.findall(found[2]))
            return True
        if "<rra>" in line:
            self.archive = self.archive.next()
        self.archive.take(line)
        if line.startswith("<") or line.endswith(">"):
            return True
        if (found := _FETCHED.match(line)) is not None:
            self._row(int(found[1]), found[2].split())
            return True
        if not self.names and _is_heading(line):
            self.names = line.split()
            return True
        return False

    def _row(self, at_s: int, cells: list[str]) -> None:
        values = dict(zip(self.names, map(_number, cells), strict=False))
        pings = [values[name] for name in values if _PING.match(name)][:_MOST_PINGS]
        answered = [value for value in pings if 0 < value <= _LONGEST_S]
        lost = values.get("loss", math.nan)
        if math.isfinite(lost) and 0 <= lost <= len(pings):
            self.packets += len(pings) * self.archive.steps
            self.lost += lost * self.archive.steps
            self.archive.known(at_s)
        if answered:
            self.starts_s.append(at_s)
            self.counts.append(len(answered))
            self.rtt_s.extend(answered)

    def measurement(self, path: Path, text: TextFile) -> Measurement:
        starts, counts = np.array(self.starts_s), np.array(self.counts, dtype=np.int64)
        rtt_s = np.array(self.rtt_s)
        # Overlapping steps, such as a dump's coarser ones, would count twice.
        order = np.argsort(np.repeat(starts, counts), kind="stable")
        step_s = float(np.median(np.diff(np.unique(starts)))) if len(np.unique(starts)) > 1 else 300.0
        bounds = np.cumsum(counts) - counts
        within = np.arange(len(rtt_s)) - np.repeat(bounds, counts)
        random = np.random.default_rng(0)
        for first, count in zip(bounds, counts, strict=True):
            random.shuffle(rtt_s[first : first + count])
        time_s = np.repeat(starts, counts) + within * step_s / max(int(counts.max()), 1)
        time_s = time_s[order] - time_s.min()
        losses = (LossCount(self.packets, min(self.lost, float(self.packets)), "both", _USUAL_BYTES),)
        return Measurement(
            source=path,
            format="SmokePing",
            round_trips=RoundTrips(np.maximum.accumulate(time_s), rtt_s[order], _USUAL_BYTES),
            loss_counts=losses if self.packets else (),
            skipped=text.skips.skipped(),
            notes=(
                *text.notes,
                f"SmokePing sorts the pings of each {step_s:.0f} s: in which order they were is not known.",
            ),
        )


def _is_heading(line: str) -> bool:
    words = line.split()
    return "loss" in words and any(_PING.match(word) for word in words)


def _number(text: str) -> float:
    """Returns NaN for what is no number."""
    try:
        # rrdtool prints the locale's decimal point.
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan


READER = Reader(
    "smokeping", "what `rrdtool fetch HOST.rrd AVERAGE` prints of SmokePing's data", recognises, read
)
