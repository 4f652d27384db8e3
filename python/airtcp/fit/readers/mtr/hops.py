"""Parses mtr's reports, each a list of hops: text (`--report`, or copied from the screen), CSV, JSON, XML."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from airtcp.fit.json_objects import objects
from airtcp.fit.json_values import object_of, objects_of
from airtcp.fit.text import TextFile

USUAL_BYTES = 64.0
SILENT = "???"
"""mtr's name of a hop that has not answered."""
CSV = re.compile(r"MTR[^,]{0,20},", re.IGNORECASE)
REMARK = re.compile(r"Start:|HOST:|Host |My traceroute|Keys:|\s*Packets\s+Pings|\|[ `|]|<")
_ROW = re.compile(
    r"(\d{1,3})\.(?:\|--)? +(?:AS\S{1,12} +)?(\S{1,255}(?: \(\S{1,255}\))?) +([\d., %]{1,300})$"
)
_SILENT_ROW = re.compile(r"(\d{1,3})\.(?:\|--)? +(?:AS\S{1,12} +)?\?\?\?")
_USUAL_COLUMNS = ("Loss%", "Snt", "Last", "Avg", "Best", "Wrst", "StDev")
_ATTRIBUTE = re.compile(r'(\w{1,20})="?([^">]{0,255})')
_ELEMENT = re.compile(r"<(\w{1,20})%?>\s*([\d.]{1,20})%?\s*</")
_LONGEST_OBJECT = 1 << 22
_MAX_HOPS = 255
_MAX_REPORTS = 1 << 14


@dataclass(frozen=True)
class Hop:
    """A row of a report."""

    number: int
    host: str
    sent: int
    lost: int
    mean_s: float
    least_s: float

    @property
    def is_silent(self) -> bool:
        return self.lost >= self.sent or self.least_s <= 0


@dataclass
class Report:
    """What one run of mtr has found."""

    target: str = ""
    """As it was given to mtr; empty if the report does not say."""
    ip_bytes: float = USUAL_BYTES
    hops: list[Hop] = field(default_factory=list)

    @property
    def last(self) -> Hop:
        return self.hops[-1]

    def takes(self, number: int) -> bool:
        """Whether a hop of that number goes on with this report."""
        return (not self.hops or number > self.last.number) and len(self.hops) < _MAX_HOPS


class Reports:
    """The reports in a file."""

    def __init__(self) -> None:
        self.all: list[Report] = []

    def begin(self, target: str = "", ip_bytes: float = USUAL_BYTES) -> None:
        if not self.all or self.all[-1].hops:
            self.all.append(Report(target, ip_bytes))
        self.all[-1].target, self.all[-1].ip_bytes = target, ip_bytes

    def add(self, hop: Hop, target: str = "") -> None:
        """Adds a hop to the last report, or to a new one."""
        last = self.all[-1] if self.all else None
        if last is None or not last.takes(hop.number) or (target and last.target != target):
            self.begin(target or (last.target if last else ""), last.ip_bytes if last else USUAL_BYTES)
        if self.all[-1].takes(hop.number):
            self.all[-1].hops.append(hop)

    @property
    def is_full(self) -> bool:
        return len(self.all) > _MAX_REPORTS


def read_reports(text: TextFile, start: str) -> list[Report]:
    """Returns the reports of a file that begins with `start`, without empty ones."""
    reports = Reports()
    if start.startswith("{"):
        parts: Iterator[None] = _json(text, reports)
    elif CSV.match(start):
        parts = _csv(text, reports)
    else:
        parts = _lines(text, reports)
    for _ in parts:
        if reports.is_full:
            text.notes.append(f"Only the first {_MAX_REPORTS} reports are used.")
            break
    return [report for report in reports.all if report.hops]


def _json(text: TextFile, reports: Reports) -> Iterator[None]:
    for _, entry, _ in objects(text, _LONGEST_OBJECT):
        report = object_of(entry, "report")
        told = object_of(report, "mtr")
        size, target = told.get("psize"), told.get("dst")
        is_size = isinstance(size, str) and size.isascii() and size.isdigit() and len(size) < 9
        reports.begin(
            target[:255] if isinstance(target, str) else "",
            min(float(str(size)), 65535.0) if is_size else USUAL_BYTES,
        )
        for hub in objects_of(report, "hubs"):
            _add(reports, hub.get("count"), hub.get("host"), hub)
        yield


def _csv(text: TextFile, reports: Reports) -> Iterator[None]:
    headings: list[str] = []
    for place, line in text.lines():
        fields = [each.strip() for each in line.split(",")]
        if "Hop" in fields:
            headings = fields
            continue
        values = dict(zip(headings, fields, strict=False))
        if not _add(reports, values.get("Hop"), values.get("Ip"), values, values.get("Host", "")[:255]):
            text.skips.add(place, line)
        yield


def _lines(text: TextFile, reports: Reports) -> Iterator[None]:
    """Text, or XML, whose elements have a line each."""
    columns: Sequence[str] = _USUAL_COLUMNS
    hub: dict[str, str] = {}
    for place, line in text.lines():
        words = line.split()
        if line.startswith("<"):
            _xml(line, hub, reports)
        elif words[0] in ("HOST:", "Host") and "Snt" in words:
            columns = words[2 if words[0] == "HOST:" else 1 :]
            reports.begin()
        elif (row := _ROW.match(line)) is not None:
            # In some locales, the decimal point is a comma.
            values = dict(zip(columns, row[3].replace(",", ".").split(), strict=False))
            if not _add(reports, row[1], row[2], values):
                text.skips.add(place, line)
        elif (silent := _SILENT_ROW.match(line)) is not None:
            reports.add(Hop(int(silent[1]), SILENT, 0, 0, 0.0, 0.0))
        elif not REMARK.match(line):
            text.skips.add(place, line)
        yield


def _xml(line: str, hub: dict[str, str], reports: Reports) -> None:
    """Adds the hop at its end; `hub` has what its lines have said."""
    if line.startswith("<MTR"):
        told = dict(_ATTRIBUTE.findall(line))
        size = told.get("PSIZE", "")
        is_size = size.isascii() and size.isdigit() and len(size) < 9
        reports.begin(told.get("DST", ""), min(float(size), 65535.0) if is_size else USUAL_BYTES)
    elif line.startswith("<HUB"):
        hub.clear()
        hub.update(_ATTRIBUTE.findall(line))
    elif line.startswith("</HUB"):
        _add(reports, hub.get("COUNT"), hub.get("HOST"), hub)
        hub.clear()
    elif (element := _ELEMENT.match(line)) is not None and len(hub) < _MAX_HOPS:
        hub["Loss%" if element[1] == "Loss" else element[1]] = element[2]


def _add(
    reports: Reports, place: object, host: object, values: Mapping[str, object], target: str = ""
) -> bool:
    """Adds a hop; returns False if a value is missing or no valid number."""
    number, loss, sent = (_number(each) for each in (place, values.get("Loss%"), values.get("Snt")))
    received = _number(values.get("Rcv"))
    if loss is None and sent and received is not None and received <= sent:
        loss = 100 * (1 - received / sent)
    if number is None or loss is None or sent is None or loss > 100:
        return False
    mean, least = _number(values.get("Avg")), _number(values.get("Best"))
    lost = min(round(sent), round(sent * loss / 100))
    if lost < sent and (mean is None or least is None):
        return False
    hop = Hop(int(number), str(host)[:255], int(sent), lost, (mean or 0.0) / 1e3, (least or 0.0) / 1e3)
    reports.add(hop, target)
    return True


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        found = float(value.strip().rstrip("%") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and 0 <= found <= 1e9 else None
