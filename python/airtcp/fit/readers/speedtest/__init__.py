"""Reads speed tests: M-Lab's NDT, Ookla's speedtest, speedtest-cli, LibreSpeed, Cloudflare, fast.com."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from airtcp.fit.json_objects import objects
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.readers.speedtest import shapes
from airtcp.fit.readers.speedtest.lines import Lines, heading, is_text, names_of, split
from airtcp.fit.readers.speedtest.ndt import Ndt
from airtcp.fit.readers.speedtest.result import SpeedTest, measurement
from airtcp.fit.rows import MAX_ROWS
from airtcp.fit.text import Skips, TextFile, head

_LONGEST = 1 << 24
_MOST_SERVERS = 256
_LINES_TO_RECOGNISE = 60
_MARKS = (
    rb'"Key"\s*:\s*"(?:connected|starting|measurement|complete)"',
    rb'"(?:AppInfo|BBRInfo)"\s*:\s*\{',
    rb'"Throughput"\s*:\s*\{\s*"Value"',
    rb'"DownloadRetrans"\s*:\s*\{',
    rb'"MeanThroughputMbps"\s*:',
    rb'"(?:Client|Server)Measurements"\s*:',
    rb'"bandwidth"\s*:\s*\d+\s*,\s*"bytes"\s*:',
    # Other programs count bytes, too.
    rb'(?s)\A(?=.*"(?:ping|share)"\s*:).*"bytes_received"\s*:',
    rb'"(?:down|up)LoadedLatency"\s*:',
    rb'"downloadSpeed"\s*:',
    rb'"test_type"\s*:\s*"(?:Down|Up)load"',
)


def recognises(start: bytes) -> float:
    if start.lstrip()[:1] in (b"{", b"["):
        return 1.0 if any(re.search(mark, start) for mark in _MARKS) else 0.0
    lines = [line for line in start.decode("utf-8", "replace").splitlines() if line.strip()]
    lines = lines[:_LINES_TO_RECOGNISE]
    if not lines:
        return 0.0
    fields = split(lines[0])
    if heading(fields) is not None or names_of(fields) is not None:
        return 1.0
    return 0.9 if any(map(is_text, lines)) else 0.0


def read(path: Path) -> Measurement | Subjects:
    text = TextFile(path, Skips("results of a speed test", unit="object", units="objects"))
    is_json = head(path).lstrip()[:1] in (b"{", b"[")
    tests = _objects(text) if is_json else _lines(text)
    if not tests:
        raise FileError(f"{path}: no result of a speed test is in it: no rate and no round trip")
    servers: dict[str, list[SpeedTest]] = {}
    for test in tests:
        if test.server in servers or len(servers) < _MOST_SERVERS:
            servers.setdefault(test.server, []).append(test)
    skipped, notes = text.skips.skipped(), tuple(text.notes)
    of = {name or "(no name)": measurement(path, found) for name, found in servers.items()}
    of = {name: replace(each, skipped=skipped, notes=(*each.notes, *notes)) for name, each in of.items()}
    return Subjects("servers", of) if len(of) > 1 else next(iter(of.values()))


def _objects(text: TextFile) -> list[SpeedTest]:
    tests: list[SpeedTest] = []
    ndt = Ndt()
    for place, entry, begins in objects(text, _LONGEST):
        found = shapes.of(entry)
        if found is not None:
            tests.append(found)
        elif ndt.take(entry):
            if ndt.summary is not None and (ended := ndt.result()) is not None:
                tests.append(ended)
        elif not shapes.is_progress(entry):
            text.skips.add(place, begins)
        if len(tests) >= MAX_ROWS:
            break
    if (ended := ndt.result()) is not None:
        tests.append(ended)
    return tests


def _lines(text: TextFile) -> list[SpeedTest]:
    text.skips = Skips("results of a speed test")
    lines = Lines()
    for number, line in text.lines():
        if not lines.take(line):
            text.skips.add(number, line)
        if len(lines.tests) >= MAX_ROWS:
            break
    return [test for test in lines.tests if test.ways or test.idle_s is not None]


READER = Reader(
    "speedtest",
    "a speed test: NDT (ndt7-client), Ookla's speedtest, speedtest-cli, LibreSpeed, Cloudflare, fast.com",
    recognises,
    read,
)
