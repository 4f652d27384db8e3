"""Reads samples of `ss -ti`: one, or several from a loop around it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from airtcp.fit import dates
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.readers.ss.connection import Connection, bytes_acked
from airtcp.fit.readers.ss.together import together
from airtcp.fit.text import Skips, TextFile

_SOCKET = re.compile(r"(?:tcp +)?(?:[A-Z][A-Z0-9-]+ +)?\d+ +\d+ +(\S+:\S+) +(\S+:\S+)(?: +(.*))?$")
_HEADING = re.compile(r"(?:Netid +)?(?:State +)?Recv-Q +Send-Q\b|Netid\b|State\b")
_INFO = re.compile(r"(?:^| )(?:rto|cwnd|rtt):\d")
_FIELD = re.compile(r"(?:^|(?<=\s))([a-z_]+):(\d{1,18}(?:\.\d{1,9})?)(?:/(\d{1,18}(?:\.\d{1,9})?))?(?=\s|$)")
_DAY_S = 86400.0
_MAX_CONNECTIONS = 4096
_MAX_SAMPLES = 1 << 20
_NEVER = float("nan")
_NEAR = 0.5


def recognises(head: bytes) -> float:
    lines = head.decode("utf-8", "replace").splitlines()
    infos = sum(" rto:" in f" {line}" and _INFO.search(line) is not None for line in lines)
    if not infos:
        # Output without -i, which `read` reports.
        return 0.3 if any(_HEADING.match(line) and "Send-Q" in line for line in lines) else 0.0
    known = sum(_is_known(line.strip()) for line in lines)
    return max(0.3, 0.95 * known / len(lines))


def _is_known(line: str) -> bool:
    return not line or any(form.search(line) for form in (_INFO, _SOCKET)) or _is_remark(line)


def _is_remark(line: str) -> bool:
    return (
        _HEADING.match(line) is not None or dates.seconds(line) is not None or not any(map(str.isalnum, line))
    )


def read(path: Path) -> Measurement | Subjects:
    text = TextFile(path, Skips("output of ss -ti"))
    samples = _Samples()
    for number, line in text.lines():
        if text.is_cut and samples.samples and _INFO.search(line):
            # What it lacks would count as zero.
            text.notes.append("The file ends within a sample, which is left out.")
        elif not samples.take(line):
            text.skips.add(number, line)
    if not samples.connections:
        raise FileError(f"{path}: no connection's samples: record them with -i, as in `ss -tin dst HOST`")
    text.skips.check(path)
    notes = [*text.notes, *([f"Only the first {_MAX_SAMPLES} samples are used."] if samples.is_full else [])]
    of = {}
    for hosts, connections in samples.paths().items():
        found = together(path, connections)
        if found.round_trips or found.throughput:
            of[hosts] = replace(found, skipped=text.skips.skipped(), notes=(*found.notes, *notes))
    if not of:
        raise FileError(f"{path}: the samples have neither round trips nor rates")
    return Subjects("pairs of hosts", of, _usual(samples, of)) if len(of) > 1 else next(iter(of.values()))


def _usual(samples: _Samples, names: Iterable[str]) -> str | None:
    """Returns the pair of hosts that has carried most, if none of the others comes near."""
    paths = samples.paths()
    carried = {name: sum(each.bytes for each in paths[name]) for name in names}
    first, second = sorted(carried, key=lambda name: carried[name], reverse=True)[:2]
    return first if carried[second] < _NEAR * carried[first] else None


class _Samples:
    """The connections in a file, line by line."""

    def __init__(self) -> None:
        self.connections: dict[str, Connection] = {}
        self.samples = 0
        self.name = self.hosts = ""
        self.at_s = _NEVER
        self.days = 0
        self.turn = 0
        self.seen: set[str] = set()
        """Connections in this run of ss."""

    @property
    def is_full(self) -> bool:
        return self.samples == _MAX_SAMPLES

    def paths(self) -> dict[str, list[Connection]]:
        """Returns the connections of each pair of hosts."""
        found: dict[str, list[Connection]] = {}
        for each in self.connections.values():
            found.setdefault(each.hosts, []).append(each)
        return found

    def take(self, line: str) -> bool:
        """Returns False if the line is not from ss."""
        if (found := _SOCKET.match(line)) is not None:
            self.name = f"{found[1]} → {found[2]}"
            self.hosts = f"{_host(found[1])} → {_host(found[2])}"
            line = found[3] or ""
            if not _INFO.search(line):
                return True
        if _INFO.search(line):
            self._info(line)
            return True
        if (at_s := dates.seconds(line)) is not None:
            # Times of day begin again at midnight.
            self.days += at_s + self.days * _DAY_S < self.at_s - _DAY_S / 2
            self.at_s = at_s + self.days * _DAY_S
            self._next_turn()
            return True
        if _HEADING.match(line):
            self._next_turn()
        return _is_remark(line)

    def _next_turn(self) -> None:
        if self.seen:
            self.turn += 1
            self.seen.clear()

    def _info(self, line: str) -> None:
        fields = {
            name: (float(first), float(second) if second else None)
            for name, first, second in _FIELD.findall(line)
        }
        if self.name in self.seen:
            self._next_turn()
        self.seen.add(self.name)
        connection = self.connections.get(self.name)
        if connection is not None and bytes_acked(fields) < connection.acked[-1]:
            # The port was reused.
            self.connections[f"{self.name} ({len(self.connections)})"] = connection
            connection = None
        if connection is None:
            if len(self.connections) >= _MAX_CONNECTIONS:
                return
            connection = self.connections[self.name] = Connection(self.name, self.hosts)
        if not self.is_full:
            self.samples += 1
            connection.take(self.at_s, self.turn, line, fields)


def _host(socket: str) -> str:
    """Returns the host of `host:port`, the same for IPv4 in either notation."""
    host = socket.rpartition(":")[0].strip("[]").partition("%")[0].strip("[]")
    return host.removeprefix("::ffff:") if "." in host else host


READER = Reader("ss", "samples of `while sleep 1; do date +%s.%N; ss -tin dst HOST; done`", recognises, read)
