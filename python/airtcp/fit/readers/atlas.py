"""Reads results of RIPE Atlas as JSON, a list or an object a line: pings, and traceroutes to their target.

Round trips are in ms; `x` is a packet without an answer. Each probe and target is a path of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

from airtcp.fit.json_objects import objects
from airtcp.fit.json_values import Json, number, objects_of
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.probe_series import NOT_LOST, SOMEWHERE, ProbeSeries
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS
from airtcp.fit.text import Skips, TextFile, shown

_LONGEST = 1 << 20
_MOST_PATHS = 4096
_LONGEST_MS = 1e8
_USUAL_GAP_S = 1.0
"""Between the packets of one result, if it does not tell."""
_ICMP_IPV4_BYTES, _ICMP_IPV6_BYTES = 28.0, 48.0
_USUAL_BYTES = 48.0


def recognises(head: bytes) -> float:
    start = head.lstrip()
    if start[:1] not in (b"{", b"["):
        return 0.0
    return 0.99 if b'"prb_id"' in head and b'"msm_id"' in head else 0.0


@dataclass
class _Path:
    """The packets of one probe to one target."""

    series: ProbeSeries = field(default_factory=ProbeSeries)
    answers: int = 0
    unreached: int = 0
    """Traceroutes that did not get to the target."""
    resolved: set[str] = field(default_factory=set)

    def add(self, at_s: float, ip_bytes: float, rtt_ms: float | None) -> None:
        self.answers += rtt_ms is not None
        fate = SOMEWHERE if rtt_ms is None else NOT_LOST
        self.series.add(at_s, ip_bytes, fate, math.nan if rtt_ms is None else rtt_ms / 1e3)

    def measurement(self, path: Path) -> Measurement:
        trips, fates, _ = self.series.measured()
        notes = []
        if len(self.resolved) > 1:
            notes.append(f"The target had {len(self.resolved)} addresses, whose paths may differ.")
        if self.unreached:
            notes.append(
                f"{self.unreached} traceroutes did not reach the target; their packets count as lost."
            )
        return Measurement(path, "RIPE Atlas", trips, fates, notes=tuple(notes))


def read(path: Path) -> Measurement | Subjects:
    text = TextFile(path, Skips("results of RIPE Atlas", unit="object", units="objects"))
    paths: dict[tuple[str, str], _Path] = {}
    packets = 0
    for place, entry, begins in objects(text, _LONGEST):
        taken = _take(entry, paths)
        if taken is None:
            text.skips.add(place, begins)
        packets += taken or 0
        if packets >= MAX_ROWS:
            text.notes.append(f"Only the first {MAX_ROWS} packets are used.")
            break
    text.skips.check(path)
    answered = {name: found for name, found in paths.items() if found.answers}
    if not answered:
        why = "no target answered" if paths else "no ping and no traceroute is in it"
        raise FileError(f"{path}: {why}")
    notes = list(text.notes)
    if len(answered) < len(paths):
        notes.append(
            f"{len(paths) - len(answered)} pairs of probe and target have no answer, and are left out."
        )
    skipped = text.skips.skipped()
    of = {
        name: replace(measured, skipped=skipped, notes=(*measured.notes, *notes))
        for name, measured in ((_name(*key), found.measurement(path)) for key, found in answered.items())
    }
    return Subjects("probes and targets", of) if len(of) > 1 else next(iter(of.values()))


def _name(probe: str, target: str) -> str:
    return f"probe {probe} to {shown(target)}"


def _take(entry: Json, paths: dict[tuple[str, str], _Path]) -> int | None:
    """Returns how many packets a result has; None if it is no ping and no traceroute."""
    probe, at_s = number(entry, "prb_id", most=1e12), number(entry, "timestamp", most=1e11)
    if probe is None or at_s is None:
        return None
    results = objects_of(entry, "result")
    address = entry.get("dst_addr", entry.get("addr"))
    target = str(entry.get("dst_name") or entry.get("name") or address or "")
    key = f"{probe:.0f}", target
    if key not in paths and len(paths) == _MOST_PATHS:
        return 0
    size = (number(entry, "size", most=65535) or _USUAL_BYTES) + (
        _ICMP_IPV6_BYTES if entry.get("af") == 6 or ":" in str(address) else _ICMP_IPV4_BYTES
    )
    kind = entry.get("type", "traceroute" if any("hop" in each for each in results) else "ping")
    if kind == "ping":
        found = paths.setdefault(key, _Path())
        _ping(entry, results, found, at_s, size)
    elif kind == "traceroute":
        found = paths.setdefault(key, _Path())
        _traceroute(results, found, str(address), at_s, size)
    else:
        return None
    if address is not None:
        found.resolved.add(str(address))
    return max(1, len(results))


def _ping(entry: Json, results: list[Json], found: _Path, at_s: float, size: float) -> None:
    """Takes each packet; duplicates are no packets of their own."""
    packets = [each for each in results if "dup" not in each]
    if not packets and (mean_ms := number(entry, "avg", least=1e-6, most=_LONGEST_MS)) is not None:
        # The oldest probes report sums only.
        found.add(at_s, size, mean_ms)
    for place, packet in enumerate(packets):
        rtt_ms = number(packet, "rtt", most=_LONGEST_MS)
        if rtt_ms is not None or "x" in packet:
            found.add(at_s + place * _USUAL_GAP_S, size, rtt_ms)


def _traceroute(hops: list[Json], found: _Path, address: str, at_s: float, size: float) -> None:
    """Takes the answers of the target itself; no other hop's round trip is the path's."""
    numbered = [hop for hop in hops if isinstance(hop.get("hop"), int)]
    last = max(numbered, key=lambda hop: int(hop["hop"]), default=None)
    answers = [] if last is None else objects_of(last, "result")
    is_reached = any(each.get("from") == address for each in answers)
    found.unreached += not is_reached
    for place, each in enumerate(answers or [{}]):
        is_target = each.get("from") == address and "late" not in each
        rtt_ms = number(each, "rtt", most=_LONGEST_MS) if is_target else None
        found.add(at_s + place * _USUAL_GAP_S, size, rtt_ms)


READER = Reader("atlas", "results of RIPE Atlas as JSON: pings and traceroutes", recognises, read)
