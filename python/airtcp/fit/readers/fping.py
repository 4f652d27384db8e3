"""Reads the output of `fping --json`: an object per line, for each answer, timeout, or host."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from airtcp.fit import dates
from airtcp.fit.json_objects import objects
from airtcp.fit.json_values import Json, number, object_of
from airtcp.fit.measurement import LossCount, Measurement, RoundTrips
from airtcp.fit.probe_series import NOT_LOST, SOMEWHERE, ProbeSeries
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS
from airtcp.fit.text import Skips, TextFile, shown

_LONGEST = 1 << 22
_LONGEST_MS = 1e8
_MAX_HOSTS = 4096
_USUAL_INTERVAL_S = 1.0
_USUAL_IP_BYTES = 84.0
_IPV4_BYTES = 20
_KINDS = (b'"resp"', b'"timeout"', b'"vSum"', b'"summary"', b'"intSum"')


def recognises(head: bytes) -> float:
    if not head.lstrip().startswith(b"{") or b'"host"' not in head:
        return 0.0
    return 0.95 if any(head.lstrip()[1:40].lstrip().startswith(kind) for kind in _KINDS) else 0.0


def read(path: Path) -> Measurement:
    text = TextFile(path, Skips("output of fping --json", unit="object", units="objects"))
    hosts: dict[str, _Host] = {}
    rows = 0
    for place, entry, begins in objects(text, _LONGEST):
        taken = _take(entry, hosts)
        if taken is None:
            text.skips.add(place, begins)
        rows += taken or 0
        if rows >= MAX_ROWS:
            text.notes.append(f"Only the first {MAX_ROWS} probes are used.")
            break
    text.skips.check(path)
    best = max(hosts, key=lambda name: hosts[name].weight, default=None)
    if best is None or not hosts[best].weight:
        raise FileError(f"{path}: fping had no answer")
    others = sum(host.weight > 0 for host in hosts.values()) - 1
    if others:
        text.notes.append(f"Answers of {others} other hosts are left out; those of {shown(best)} are used.")
    return hosts[best].measurement(path, text)


@dataclass
class _Host:
    """Each probe or, if fping reported no more, sums."""

    sequences: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    """Time of the answer (NaN: unknown), size, RTT in s (NaN: no answer)."""
    in_order: array[float] = field(default_factory=lambda: array("d"))
    """RTTs in ms as `-C` lists them; NaN: no answer."""
    sums: list[tuple[int, int, float, float]] = field(default_factory=list)
    """Packets sent, packets received, lowest RTT and mean RTT in s."""

    @property
    def weight(self) -> int:
        """Number of answers known."""
        each = sum(not math.isnan(rtt) for _, _, rtt in self.sequences.values())
        listed = sum(not math.isnan(rtt) for rtt in self.in_order)
        return each or listed or sum(received for _, received, _, _ in self.sums)

    def measurement(self, path: Path, text: TextFile) -> Measurement:
        probes, notes = self._probes(), list(text.notes)
        skipped = text.skips.skipped()
        if len(probes):
            trips, fates, _ = probes.measured()
            return Measurement(path, "fping", trips, fates, skipped=skipped, notes=tuple(notes))
        sent, received = sum(each[0] for each in self.sums), sum(each[1] for each in self.sums)
        known = [each for each in self.sums if each[1]]
        least, mean = min(each[2] for each in known), np.array([each[3] for each in known])
        notes.append("These are fping's sums: leave out -q, and use -C or -l, for each probe's round trip.")
        return Measurement(
            path,
            "fping, sums",
            RoundTrips(np.arange(len(mean), dtype=np.float64), mean, _USUAL_IP_BYTES, least),
            loss_counts=(LossCount(sent, sent - received, "both", _USUAL_IP_BYTES),),
            skipped=skipped,
            notes=tuple(notes),
        )

    def _probes(self) -> ProbeSeries:
        """Returns the probes; a missing number is a probe without any report."""
        probes = ProbeSeries()
        step_s = self._step_s()
        for sequence, (at_s, ip_bytes, rtt_s) in sorted(self.sequences.items()):
            time_s = sequence * step_s if math.isnan(at_s) or math.isnan(rtt_s) else at_s - rtt_s
            probes.add(time_s, ip_bytes, SOMEWHERE if math.isnan(rtt_s) else NOT_LOST, rtt_s)
        if not len(probes):
            for place, rtt_ms in enumerate(self.in_order):
                fate = SOMEWHERE if math.isnan(rtt_ms) else NOT_LOST
                probes.add(place * _USUAL_INTERVAL_S, _USUAL_IP_BYTES, fate, rtt_ms / 1e3)
        return probes

    def _step_s(self) -> float:
        """Returns the time between probes; dated answers count it from the first number."""
        told = self.sequences.items()
        dated = [(n, each[0]) for n, each in told if math.isfinite(each[0] + each[2])]
        if len(dated) < 2:
            return _USUAL_INTERVAL_S
        (first, began_s), (last, ended_s) = min(dated), max(dated)
        step_s = (ended_s - began_s) / (last - first) if last > first else _USUAL_INTERVAL_S
        if step_s <= 0:
            return _USUAL_INTERVAL_S
        for n, (at_s, ip_bytes, rtt_s) in self.sequences.items():
            if math.isfinite(at_s):
                self.sequences[n] = (at_s - began_s + first * step_s, ip_bytes, rtt_s)
        return step_s


def _take(entry: Json, hosts: dict[str, _Host]) -> int | None:
    """Returns how many probes the entry reports; None if it is not fping's."""
    for kind in ("resp", "timeout", "vSum", "summary", "intSum"):
        part = object_of(entry, kind)
        name = part.get("host")
        if not isinstance(name, str):
            continue
        if name not in hosts and len(hosts) == _MAX_HOSTS:
            return 0
        return _TAKES[kind](part, hosts.setdefault(name, _Host()))
    return 0 if "stats" in entry or "globalSum" in entry else None


def _response(part: Json, host: _Host) -> int | None:
    sequence, rtt_ms = number(part, "seq", most=1e9), number(part, "rtt", most=_LONGEST_MS)
    if sequence is None or rtt_ms is None:
        return None
    stamp = part.get("timestamp")
    at_s = dates.seconds(str(stamp).strip("[] ")) if isinstance(stamp, str | int | float) else None
    size = number(part, "size", least=8, most=65535)
    ip_bytes = _USUAL_IP_BYTES if size is None else size + _IPV4_BYTES
    told = (math.nan if at_s is None else at_s, ip_bytes, rtt_ms / 1e3)
    host.sequences.setdefault(int(sequence), told)
    return 1


def _timeout(part: Json, host: _Host) -> int | None:
    sequence = number(part, "seq", most=1e9)
    if sequence is None:
        return None
    host.sequences.setdefault(int(sequence), (math.nan, _USUAL_IP_BYTES, math.nan))
    return 1


def _values(part: Json, host: _Host) -> int | None:
    values = part.get("values")
    if not isinstance(values, list):
        return None
    for value in values:
        rtt_ms = number({"rtt": value}, "rtt", most=_LONGEST_MS)
        host.in_order.append(math.nan if rtt_ms is None else rtt_ms)
    return len(values)


def _sums(part: Json, host: _Host) -> int | None:
    sent, received = number(part, "xmt", most=1e12), number(part, "rcv", most=1e12)
    if sent is None or received is None:
        return None
    least, mean = number(part, "rttMin", most=_LONGEST_MS), number(part, "rttAvg", most=_LONGEST_MS)
    if received and (least is None or mean is None):
        return None
    received = min(received, sent)
    host.sums.append((int(sent), int(received), (least or 0.0) / 1e3, (mean or 0.0) / 1e3))
    return 1


_TAKES = {"resp": _response, "timeout": _timeout, "vSum": _values, "summary": _sums, "intSum": _sums}

READER = Reader("fping", "what `fping --json -c 600 HOST` printed", recognises, read)
