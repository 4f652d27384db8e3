"""Reads the output of `mtr --json`, `--report`, `--csv`, `--xml` and `--raw`: what the target answered."""

from __future__ import annotations

import re
from ipaddress import ip_address
from pathlib import Path

import numpy as np

from airtcp.fit.measurement import LossCount, Measurement, RoundTrips, Subjects
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.readers.mtr.hops import CSV, REMARK, Hop, Report, read_reports
from airtcp.fit.readers.mtr.raw import RAW, Raw, read_raw
from airtcp.fit.text import Skips, TextFile, shown

_ANY_ROW = re.compile(r"\d{1,3}\.(?:\|--)? +(?:\?\?\?|\S{1,255} .*[\d.]+%? +\d)")
_SUMS = "mtr's report has sums; `mtr --raw` has the round trip of each probe."
_NO_TIMES = "mtr's raw lines have no times: one probe a second is assumed."
_PROBE_S = 1.0


def recognises(head: bytes) -> float:
    text = head.decode("utf-8", "replace").lstrip()
    if text.startswith("{"):
        return 0.98 if '"report"' in text and '"hubs"' in text else 0.0
    if "<MTR " in text and "<HUB " in text:
        return 0.98
    lines = [line.strip() for line in text.splitlines()[:200] if line.strip()]
    if not lines:
        return 0.0
    if CSV.match(lines[0]) and ",Hop," in lines[0]:
        return 0.97
    if any(_ANY_ROW.match(line) for line in lines) and any(REMARK.match(line) for line in lines):
        return 0.95
    raw = sum(RAW.match(line) is not None for line in lines)
    return 0.9 if raw * 10 >= len(lines) * 9 and any(line[:2] in {"p ", "x "} for line in lines) else 0.0


def read(path: Path) -> Measurement | Subjects:
    text = TextFile(path, Skips("output of mtr"))
    start = next((line for _, line in text.lines()), "")
    text.skips = Skips("output of mtr")
    if RAW.match(start):
        raw = read_raw(text)
        text.skips.check(path)
        return _probes(path, text, raw)
    reports = read_reports(text, start)
    text.skips.check(path)
    reached = [report for report in reports if not _why_unreached(report)]
    if reached:
        if left := len(reports) - len(reached):
            text.notes.append(f"Reports whose last hop is not the target are left out: {left}.")
        return _targets(path, text, reached)
    unreached = next((report for report in reports if any(not hop.is_silent for hop in report.hops)), None)
    if unreached is None:
        raise FileError(f"{path}: no hop of mtr's report has answered")
    hops = {hop.host: _of(path, text, [(unreached, hop)]) for hop in unreached.hops if not hop.is_silent}
    return Subjects("hops", hops, why=_why_unreached(unreached))


def _why_unreached(report: Report) -> str:
    """Says why the last hop is not the target; empty if it may be."""
    last = report.last
    target = shown(report.target) or "the target"
    if last.is_silent:
        return f"{target} has not answered mtr: the last hop, {last.number}, is silent"
    address = _address(last.host)
    if address and _address(report.target) and address != _address(report.target):
        return f"mtr's last hop, {shown(last.host)}, is not the target, {target}"
    return ""


def _address(host: str) -> str:
    """Returns the address in `name (address)` or `address`; empty for a name."""
    try:
        return str(ip_address(host.rpartition("(")[2].rstrip(")")))
    except ValueError:
        return ""


def _targets(path: Path, text: TextFile, reports: list[Report]) -> Measurement | Subjects:
    """Returns the sums to each target, over all of its reports."""
    ends: dict[str, list[tuple[Report, Hop]]] = {}
    for report in reports:
        ends.setdefault(report.target or report.last.host, []).append((report, report.last))
    of = {target: _of(path, text, each) for target, each in ends.items()}
    if len(of) > 1:
        return Subjects("targets", of)
    return next(iter(of.values()))


def _of(path: Path, text: TextFile, ends: list[tuple[Report, Hop]]) -> Measurement:
    sent, lost = sum(hop.sent for _, hop in ends), sum(hop.lost for _, hop in ends)
    means = np.array([hop.mean_s for _, hop in ends])
    began_s = np.cumsum([0.0, *(hop.sent * _PROBE_S for _, hop in ends[:-1])])
    report, last = ends[0]
    ip_bytes = report.ip_bytes
    notes = [f"Hop {last.number}, {shown(last.host)}, is used: the last of mtr's report.", _SUMS]
    if len(ends) > 1:
        notes.insert(1, f"{len(ends)} reports stand one after the other, as if without a pause.")
    return Measurement(
        source=path,
        format="mtr",
        round_trips=RoundTrips(began_s, means, ip_bytes, min(hop.least_s for _, hop in ends)),
        loss_counts=(LossCount(sent, lost, "both", ip_bytes),),
        skipped=text.skips.skipped(),
        notes=(*text.notes, *notes),
    )


def _probes(path: Path, text: TextFile, raw: Raw) -> Measurement | Subjects:
    of: dict[str, Measurement] = {}
    for hop in raw.probed:
        if raw.answered(hop):
            trips, fates, _ = raw.probes(hop).measured()
            notes = (*text.notes, f"Hop {hop + 1}, {shown(raw.name(hop))}, is used.", _NO_TIMES)
            skipped = text.skips.skipped()
            of[raw.name(hop)] = Measurement(path, "mtr, raw", trips, fates, skipped=skipped, notes=notes)
    if not of:
        raise FileError(f"{path}: no probe of mtr's has both its `x` and its `p` line")
    last = raw.probed[-1]
    if raw.answered(last):
        return of[raw.name(last)]
    return Subjects("hops", of, why=f"the target has not answered mtr: the last hop, {last + 1}, is silent")


READER = Reader(
    "mtr", "what `mtr --json -c 600 HOST` (or --report, --csv, --xml, --raw) printed", recognises, read
)
