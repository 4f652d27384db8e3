"""Reads what fping prints of each probe, or its sums: `-c`, `-C`, `-l`, with `-D` or `--json`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from airtcp.fit.json_objects import objects
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.readers.fping.entries import take_object
from airtcp.fit.readers.fping.host import Host
from airtcp.fit.readers.fping.lines import is_line, take_line
from airtcp.fit.rows import MAX_ROWS
from airtcp.fit.text import Skips, TextFile, shown

_LONGEST = 1 << 22
_KINDS = (b'"resp"', b'"timeout"', b'"vSum"', b'"summary"', b'"intSum"')
_LINES_TO_RECOGNISE = 200
_NAMED = 3


def recognises(head: bytes) -> float:
    start = head.lstrip()
    if start.startswith(b"{"):
        is_kind = any(start[1:40].lstrip().startswith(kind) for kind in _KINDS)
        return 0.95 if is_kind and b'"host"' in head else 0.0
    lines = [line.strip() for line in head.decode("utf-8", "replace").splitlines() if line.strip()]
    lines = lines[:_LINES_TO_RECOGNISE]
    return 0.97 * sum(map(is_line, lines)) / len(lines) if lines else 0.0


def read(path: Path) -> Measurement | Subjects:
    text = TextFile(path, Skips("output of fping"))
    start = next((line for _, line in text.lines()), "")
    text.skips = Skips("output of fping")
    hosts: dict[str, Host] = {}
    rows = 0
    for taken in (_objects if start.startswith("{") else _lines)(text, hosts):
        rows += taken
        if rows >= MAX_ROWS:
            text.notes.append(f"Only the first {MAX_ROWS} probes are used.")
            break
    text.skips.check(path)
    probed = {name: host for name, host in hosts.items() if host.is_probed}
    if not probed:
        raise FileError(f"{path}: no line of fping's tells of a probe; use fping -c, -C or -l")
    answered = {name: host for name, host in probed.items() if host.weight} or probed
    if silent := [shown(name) for name in hosts if name not in answered]:
        more = ", …" if len(silent) > _NAMED else ""
        text.notes.append(f"No answer at all from {len(silent)}: {', '.join(silent[:_NAMED])}{more}.")
    of = {name: host.measurement(path, text) for name, host in answered.items()}
    return Subjects("hosts", of) if len(of) > 1 else next(iter(of.values()))


def _objects(text: TextFile, hosts: dict[str, Host]) -> Iterator[int]:
    """Yields how many probes each object reports."""
    text.skips.unit, text.skips.units = "object", "objects"
    for place, entry, begins in objects(text, _LONGEST):
        taken = take_object(entry, hosts)
        if taken is None:
            text.skips.add(place, begins)
        yield taken or 0


def _lines(text: TextFile, hosts: dict[str, Host]) -> Iterator[int]:
    """Yields how many probes each line reports."""
    for place, line in text.lines():
        taken = take_line(line, hosts)
        if taken is None:
            text.skips.add(place, line)
        yield taken or 0


READER = Reader(
    "fping",
    "what `fping -D -c 600 HOST` printed, as text or with --json, of one host or several",
    recognises,
    read,
)
