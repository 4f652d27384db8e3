"""Reads results of irtt, gzipped or not: `irtt client -o result.json HOST`."""

from __future__ import annotations

import math
from pathlib import Path

from airtcp.fit.json_objects import objects
from airtcp.fit.json_values import Json, number, object_of, objects_of
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.probe_series import BACK, NOT_LOST, SOMEWHERE, THERE, ProbeSeries
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS
from airtcp.fit.text import Skips, TextFile

_LONGEST = 1 << 20
"""Longest object that is read in one piece; the result itself is read round trip by round trip."""
_FATES = {"false": NOT_LOST, "true": SOMEWHERE, "true_up": THERE, "true_down": BACK}
_MAX_HOSTS = 256
_UDP_IPV4_BYTES = 28
_LEAST_BYTES = 16
"""irtt's own header, in packets of no stated length."""
_ACROSS_CLOCKS_NS = 1e18
_LONGEST_NS = 1e14


def recognises(head: bytes) -> float:
    if not head.lstrip().startswith(b"{"):
        return 0.0
    if b'"round_trips"' in head and b'"seqno"' in head:
        return 0.99
    return (
        0.95 if b'"irtt' in head or (b'"upstream_loss_percent"' in head and b'"send_call"' in head) else 0.0
    )


def read(path: Path) -> Measurement | Subjects:
    text = TextFile(path, Skips("results of irtt", unit="object", units="objects"))
    result = _Result()
    for _, entry, _ in objects(text, _LONGEST):
        result.take(entry)
        if result.count >= MAX_ROWS:
            text.notes.append(f"Only the first {MAX_ROWS} round trips are used.")
            break
    all_of = {host: _measurement(path, text, probes) for host, probes in result.hosts.items() if len(probes)}
    if not all_of:
        raise FileError(f"{path}: irtt has sent no packet")
    of = {host: found for host, found in all_of.items() if found.round_trips is not None} or all_of
    return Subjects("hosts", of) if len(of) > 1 else next(iter(of.values()))


def _measurement(path: Path, text: TextFile, probes: ProbeSeries) -> Measurement:
    trips, fates, ways = probes.measured()
    return Measurement(
        source=path,
        format="irtt",
        round_trips=trips,
        fates=fates,
        one_way=ways,
        notes=tuple(text.notes),
    )


class _Result:
    """The whole result, or its inner objects one by one."""

    def __init__(self) -> None:
        self.hosts: dict[str, ProbeSeries] = {}
        self.host = ""
        self.count = 0
        self.ip_bytes = math.nan
        self.interval_s = 1.0

    def take(self, entry: Json) -> None:
        address = object_of(entry, "config").get("remote_address", entry.get("remote_address"))
        if isinstance(address, str) and len(self.hosts) < _MAX_HOSTS:
            self.host = address[:255].rpartition(":")[0] or address[:255]
        self._options(object_of(object_of(entry, "config"), "params") or object_of(entry, "params"))
        if "duration" in entry and "interval" in entry:
            self._options(entry)
        if "seqno" in entry:
            self._round_trip(entry)
        for each in objects_of(entry, "round_trips"):
            self._round_trip(each)

    def _options(self, params: Json) -> None:
        length = number(params, "length", most=65507)
        if length is not None:
            self.ip_bytes = max(length, _LEAST_BYTES) + _UDP_IPV4_BYTES
        interval = number(params, "interval", least=1.0, most=_LONGEST_NS)
        if interval is not None:
            self.interval_s = interval / 1e9

    def _round_trip(self, entry: Json) -> None:
        sequence = number(entry, "seqno", most=1e9)
        lost = entry.get("lost")
        fate = _FATES.get(str(lost).lower()) if isinstance(lost, str | bool) else None
        if sequence is None or fate is None or self.count >= MAX_ROWS:
            return
        sent = object_of(object_of(object_of(entry, "timestamps"), "client"), "send")
        sent_ns = number(sent, "monotonic", most=_ACROSS_CLOCKS_NS)
        time_s = sequence * self.interval_s if sent_ns is None else sent_ns / 1e9
        delay = object_of(entry, "delay")
        rtt_ns = number(delay, "rtt", most=_LONGEST_NS)
        if fate == NOT_LOST and rtt_ns is None:
            return
        there_ns, back_ns = (
            number(delay, key, least=-_ACROSS_CLOCKS_NS, most=_ACROSS_CLOCKS_NS)
            for key in ("send", "receive")
        )
        if fate != NOT_LOST:
            rtt_ns = there_ns = back_ns = None
        times = [math.nan if value is None else value / 1e9 for value in (rtt_ns, there_ns, back_ns)]
        self.count += 1
        self.hosts.setdefault(self.host, ProbeSeries()).add(time_s, self.ip_bytes, fate, *times)


READER = Reader("irtt", "a result of `irtt client -o result.json HOST`", recognises, read)
