"""Reads the output of `mtr --json`, `--report`, `--csv` and `--raw`. The last hop that answered counts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from airtcp.fit.json_objects import objects
from airtcp.fit.json_values import Json, number, object_of, objects_of
from airtcp.fit.measurement import LossCount, Measurement, RoundTrips
from airtcp.fit.probe_series import NOT_LOST, SOMEWHERE, ProbeSeries
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS
from airtcp.fit.text import Skips, TextFile, shown

_ROW = re.compile(
    r"(\d{1,3})\.(?:\|--)? +(\S{1,255}) +(\d{1,3}(?:\.\d{1,3})?)% +(\d{1,9})"
    + 5 * r" +(\d{1,9}(?:\.\d{1,3})?)"
    + "$"
)
_SILENT = re.compile(r"\d{1,3}\.(?:\|--)? +\?\?\?")
_REMARK = re.compile(r"Start:|HOST:|My traceroute|Keys:|\s*Packets\s+Pings|\|[ `|]")
_CSV = re.compile(r"MTR[^,]{0,20},", re.IGNORECASE)
_RAW = re.compile(r"[xhdptm] \d{1,3}(?: |$)")
_USUAL_BYTES = 64.0
_LONGEST_MS = 1e8
_RAW_INTERVAL_S = 1.0


def recognises(head: bytes) -> float:
    text = head.decode("utf-8", "replace").lstrip()
    if text.startswith("{"):
        return 0.98 if '"report"' in text and '"hubs"' in text else 0.0
    lines = [line.strip() for line in text.splitlines()[:200] if line.strip()]
    if not lines:
        return 0.0
    if _CSV.match(lines[0]) and ",Hop," in lines[0]:
        return 0.97
    if any(_ROW.match(line) for line in lines) and any(_REMARK.match(line) for line in lines):
        return 0.95
    raw = sum(_RAW.match(line) is not None for line in lines)
    return 0.9 if raw * 10 >= len(lines) * 9 and any(line.startswith("p ") for line in lines) else 0.0


def read(path: Path) -> Measurement:
    text = TextFile(path, Skips("output of mtr"))
    start = next((line for _, line in text.lines()), "")
    text.skips = Skips("output of mtr")
    if _RAW.match(start):
        return _raw(path, text)
    hops = list(_json_hops(text) if start.startswith("{") else _text_hops(text, start))
    text.skips.check(path)
    answered = [hop for hop in hops if hop.received]
    if not answered:
        raise FileError(f"{path}: no hop of mtr's report has answered")
    last = max(answered, key=lambda hop: hop.number)
    silent = max(hop.number for hop in hops) > last.number
    notes = [f"Hop {last.number}, {shown(last.host)}, is used: the last that answered."] if silent else []
    notes.append("mtr's report has sums; `mtr --raw` has the round trip of each probe.")
    lost = min(last.sent, round(last.sent * last.loss))
    return Measurement(
        source=path,
        format="mtr",
        round_trips=RoundTrips(np.zeros(1), np.array([last.mean_s]), last.ip_bytes, last.least_s),
        loss_counts=(LossCount(last.sent, lost, "both", last.ip_bytes),),
        skipped=text.skips.skipped(),
        notes=(*text.notes, *notes),
    )


@dataclass(frozen=True)
class _Hop:
    """A row of a report."""

    number: int
    host: str
    loss: float
    """As a share."""
    sent: int
    mean_s: float
    least_s: float
    ip_bytes: float = _USUAL_BYTES

    @property
    def received(self) -> int:
        return self.sent - round(self.sent * self.loss) if self.least_s > 0 else 0


def _json_hops(text: TextFile) -> Iterator[_Hop]:
    for _, entry, _ in objects(text, 1 << 22):
        report = object_of(entry, "report")
        size = object_of(report, "mtr").get("psize")
        ip_bytes = (
            float(size) if isinstance(size, str) and size.isascii() and size.isdigit() else _USUAL_BYTES
        )
        for hub in objects_of(report, "hubs"):
            if (hop := _hub(hub, min(ip_bytes, 65535.0))) is not None:
                yield hop


def _hub(hub: Json, ip_bytes: float) -> _Hop | None:
    place, *values = (str(number(hub, name, most=1e9)) for name in ("count", "Loss%", "Snt", "Avg", "Best"))
    found = _hop(place, str(hub.get("host"))[:255], *values)
    return None if found is None else replace(found, ip_bytes=ip_bytes)


def _text_hops(text: TextFile, start: str) -> Iterator[_Hop]:
    headings = start.split(",") if _CSV.match(start) else []
    for place, line in text.lines():
        found = _csv_hop(headings, line.split(",")) if headings else _row(line)
        if found is not None:
            yield found
        elif not headings and not (_REMARK.match(line) or _SILENT.match(line)):
            text.skips.add(place, line)


def _row(line: str) -> _Hop | None:
    found = _ROW.match(line)
    if found is None:
        return None
    return _hop(found[1], found[2], found[3], found[4], found[6], found[7])


def _csv_hop(headings: list[str], fields: list[str]) -> _Hop | None:
    values = dict(zip((heading.strip() for heading in headings), fields, strict=False))
    if not values.get("Hop", "").isdigit():
        return None
    names = ("Hop", "Ip", "Loss%", "Snt", "Avg", "Best")
    return _hop(*(values.get(name, "") for name in names))


def _hop(place: str, host: str, loss: str, sent: str, mean: str, least: str) -> _Hop | None:
    """Returns None if a value is not a valid number."""
    try:
        numbers = [float(text.strip().rstrip("%")) for text in (place, loss, sent, mean, least)]
    except ValueError:
        return None
    if not all(math.isfinite(value) and 0 <= value <= 1e9 for value in numbers) or numbers[1] > 100:
        return None
    return _Hop(int(numbers[0]), host, numbers[1] / 100, int(numbers[2]), numbers[3] / 1e3, numbers[4] / 1e3)


def _raw(path: Path, text: TextFile) -> Measurement:
    """`x HOP SEQUENCE` was sent, `p HOP MICROSECONDS SEQUENCE` came back; one round a second."""
    sent: dict[int, list[int]] = {}
    answers: dict[int, float] = {}
    for place, line in text.lines():
        words = line.split()
        if not _RAW.match(line) or not all(w.isascii() and w.isdigit() and len(w) < 12 for w in words[1:4:2]):
            text.skips.add(place, line)
        elif words[0] == "x" and len(words) >= 3 and words[2].isdigit():
            sent.setdefault(int(words[1]), []).append(int(words[2][:9]))
        elif words[0] == "p" and len(words) >= 4 and words[2].isascii() and words[2].isdigit():
            answers[int(words[3])] = min(float(words[2][:15]), _LONGEST_MS * 1e3) / 1e6
        if len(answers) >= MAX_ROWS:
            text.notes.append(f"Only the first {MAX_ROWS} answers are used.")
            break
    text.skips.check(path)
    reached = [hop for hop, numbers in sent.items() if any(n in answers for n in numbers)]
    if not reached:
        raise FileError(f"{path}: no probe of mtr's has both its `x` and its `p` line")
    probes = ProbeSeries()
    for turn, sequence in enumerate(sent[max(reached)]):
        rtt_s = answers.get(sequence, math.nan)
        fate = SOMEWHERE if math.isnan(rtt_s) else NOT_LOST
        probes.add(turn * _RAW_INTERVAL_S, _USUAL_BYTES, fate, rtt_s)
    trips, fates, _ = probes.measured()
    notes = (*text.notes, "mtr's raw lines have no times: one probe a second is assumed.")
    return Measurement(path, "mtr, raw", trips, fates, skipped=text.skips.skipped(), notes=notes)


READER = Reader("mtr", "what `mtr --json -c 600 HOST` (or --report, --csv, --raw) printed", recognises, read)
