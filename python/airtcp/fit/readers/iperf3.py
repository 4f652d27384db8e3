"""Reads results of `iperf3 --json` and `iperf3 --json-stream`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from airtcp.fit.iperf3_lengths import is_unheard, lengths
from airtcp.fit.iperf3_totals import arrived, course, offered, omitted_s, sent
from airtcp.fit.iperf3_way import Way, added, losses
from airtcp.fit.json_objects import objects
from airtcp.fit.json_values import Json, Repeated, number, object_of, objects_of
from airtcp.fit.measurement import (
    Arrived,
    Direction,
    Floats,
    LengthCount,
    LossCount,
    Measurement,
    Offered,
    Reordering,
    RoundTrips,
    Skipped,
    Subjects,
    Throughput,
    Transfer,
)
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.text import Skips, TextFile

_LONGEST_RESULT = 1 << 22
_LONGEST_FILE = 1 << 25
_VERSION = re.compile(rb'"version"\s*:\s*"iperf 3')
_AS_TEXT = re.compile(rb"\[ *ID\] +Interval +Transfer")
# Headers of IPv4 and TCP with timestamps; of IPv4 and UDP.
_TCP_HEADER_BYTES = 52
_UDP_HEADER_BYTES = 28
_WHAT = "results of iperf3"
_REVERSE = "_bidir_reverse"


def recognises(head: bytes) -> float:
    if _AS_TEXT.search(head):
        return 0.5
    if not head.lstrip().startswith(b"{"):
        return 0.0
    if _VERSION.search(head) or b'"test_start"' in head:
        return 0.99
    return 0.9 if b'"streams"' in head and b'"bits_per_second"' in head else 0.0


def read(path: Path) -> Measurement | Subjects:
    text = TextFile(path, Skips(_WHAT, unit="object", units="objects"))
    result = _Result(path)
    for _, entry, _ in objects(text, _LONGEST_RESULT):
        result.take(entry)
        if text.characters > _LONGEST_FILE:
            text.notes.append(f"Only the first {_LONGEST_FILE >> 20} MB are used.")
            break
    if text.skips.count:
        text.notes.append("The result breaks off, or is very long: its intervals are read one by one.")
    return result.measurement(text)


@dataclass
class _Test:
    """One run of iperf3."""

    start: Json = field(default_factory=dict)
    end: Json = field(default_factory=dict)
    forward: Way = field(default_factory=Way)
    reverse: Way = field(default_factory=Way)

    @property
    def options(self) -> Json:
        return object_of(self.start, "test_start")

    @property
    def is_udp(self) -> bool:
        return self.options.get("protocol") == "UDP"

    @property
    def host(self) -> str:
        """The other end."""
        host = object_of(self.start, "connecting_to" if not self.is_server else "accepted_connection").get(
            "host"
        )
        return host[:255] if isinstance(host, str) else ""

    @property
    def connections(self) -> int:
        return int(number(self.options, "num_streams", least=1, most=1e4) or 1)

    @property
    def is_server(self) -> bool:
        """Whether the server has written it: what it sends goes in the reverse direction."""
        return "accepted_connection" in self.start

    def total(self, key: str, way: Direction = "forward") -> Json:
        """Returns a direction's total at the end."""
        suffix = _REVERSE if way == "reverse" else ""
        return _total(self.end, key + suffix, self.is_server == (way == "reverse"))

    @property
    def kind(self) -> tuple[object, ...]:
        """Tests of the same kind can be combined."""
        return self.options.get("protocol"), bool(self.options.get("reverse")), bool(self.reverse.time_s)


class _Result:
    """The tests in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tests: list[_Test] = []
        self.error = ""
        self.begun_s = 0.0

    def take(self, entry: Json) -> None:
        """Accepts a whole result, an event of a stream, or a part of a truncated result."""
        if isinstance(entry.get("error"), str):
            self.error = entry["error"]
        event, data = entry.get("event"), entry.get("data")
        if event == "error":
            self.error = str(data)
        elif isinstance(event, str) and isinstance(data, dict):
            self._part(data)
        elif "intervals" in entry:
            self._start(object_of(entry, "start"))
            for interval in objects_of(entry, "intervals"):
                self._part(interval)
            self._part(object_of(entry, "end"))
        else:
            self._part(entry)

    def measurement(self, text: TextFile) -> Measurement | Subjects:
        """
        # Raises
        FileError: no interval of any test can be used.
        """
        hosts: dict[str, list[_Test]] = {}
        for test in self.tests:
            if test.forward.time_s:
                hosts.setdefault(test.host, []).append(test)
        if not hosts:
            raise FileError(f"{self.path}: {self._why_nothing()}")
        of = {host or "(unknown)": self._of(text, tests) for host, tests in hosts.items()}
        return Subjects("hosts", of) if len(of) > 1 else next(iter(of.values()))

    def _of(self, text: TextFile, tests: list[_Test]) -> Measurement:
        alike = [test for test in tests if test.kind == tests[0].kind]
        notes = list(text.notes)
        if self.error:
            notes.append(f"iperf3 ended with an error: {self.error[:200]}")
        if len(tests) > 1:
            notes.append(f"{len(alike)} tests of one kind stand one after the other, as if without a pause.")
        if len(alike) < len(tests):
            notes.append(f"{len(tests) - len(alike)} tests of another kind are left out.")
        return _measurement(self.path, alike, text.skips.skipped(), notes)

    def _why_nothing(self) -> str:
        if self.error:
            return f"iperf3 measured nothing: {self.error[:200]}"
        if self.tests:
            return "no interval was measured; was iperf3 stopped at once?"
        return "iperf3 prints what can be read with --json only: iperf3 --json -c HOST > result.json"

    def _start(self, start: Json) -> None:
        if self.tests and self.tests[-1].forward.time_s:
            self.begun_s = self.tests[-1].forward.time_s[-1] + self.tests[-1].forward.interval_s[-1]
        self.tests.append(_Test(start))

    def _part(self, part: Json) -> None:
        if "test_start" in part:
            self._start(part)
            return
        if not self.tests:
            self._start({})
        if "sum_sent" in part or "sum_received" in part or ("sum" in part and _is_end(part)):
            self.tests[-1].end = part
        elif "sum" in part or "streams" in part:
            self._interval(part)

    def _interval(self, part: Json) -> None:
        test = self.tests[-1]
        streams = objects_of(part, "streams")
        twice = _repeated(part, "sum")
        flags = {flag for each in [*streams, *twice] if isinstance(flag := each.get("sender"), bool)}
        is_bidir = "sum_bidir_reverse" in part or flags == {True, False}
        if twice and not is_bidir:
            self.error = "`sum` stands twice in an interval, and nothing tells which direction each is of"
            return
        for way, key, is_sender in (
            (test.forward, "sum", not test.is_server),
            (test.reverse, "sum_bidir_reverse", test.is_server),
        ):
            of_way = [each for each in streams if not is_bidir or each.get("sender") is is_sender]
            if not is_bidir and way is test.reverse:
                continue
            total = _total(part, key, is_sender) or added(of_way)
            if total and total.get("omitted") is not True:
                way.take(self.begun_s + (number(total, "start") or 0.0), total, of_way)


def _measurement(path: Path, tests: list[_Test], skipped: Skipped | None, notes: list[str]) -> Measurement:
    first = tests[0]
    protocol = "UDP" if first.is_udp else "TCP"
    ways: list[Direction] = ["forward", "reverse"] if first.reverse.time_s else ["forward"]
    packet_bytes, payload_bytes = _lengths(first)
    notes += [*_notes(first, ways), *(_loss_notes(tests, ways) if first.is_udp else [])]
    return Measurement(
        source=path,
        format=f"iperf3 ({protocol}{', both ways' if len(ways) > 1 else ''})",
        throughput=tuple(_throughput(tests, way, packet_bytes / payload_bytes) for way in ways),
        offered=tuple(each for way in ways if (each := _offered(tests, way, packet_bytes))),
        round_trips=_round_trips(tests, packet_bytes),
        loss_counts=tuple(count for way in ways if (count := _losses(tests, way, packet_bytes))),
        lengths=() if first.is_udp else tuple(_by_length(tests, ways)),
        reordering=_reordering(tests, ways) if first.is_udp else (),
        transfer=None if first.is_udp else _transfer(tests, packet_bytes, payload_bytes),
        is_seen_from_far=bool(first.options.get("reverse")) and len(ways) == 1,
        skipped=skipped,
        notes=tuple(notes),
    )


def _lengths(test: _Test) -> tuple[float, float]:
    """Returns the bytes of a full packet, and of its payload."""
    if test.is_udp:
        payload = number(test.options, "blksize") or 1448.0
        return payload + _UDP_HEADER_BYTES, payload
    payload = number(test.start, "tcp_mss_default") or number(test.start, "tcp_mss") or 1448.0
    return payload + _TCP_HEADER_BYTES, payload


def _by_length(tests: list[_Test], ways: list[Direction]) -> Iterator[LengthCount]:
    packet_bytes, payload_bytes = _lengths(tests[0])
    for test in tests:
        for way in ways:
            totals = test.total("sum_sent", way), test.total("sum_received", way)
            yield from lengths(*totals, way, test.connections, payload_bytes, packet_bytes)


def _throughput(tests: list[_Test], way: Direction, expansion: float) -> Throughput:
    """Returns the throughput of IP packets; iperf3 counts their payload."""
    parts = [_way(test, way) for test in tests]
    rtt_s = np.concatenate([part.rtt_s for part in parts])
    rates = [_left_the_buffer(test, part) for test, part in zip(tests, parts, strict=True)]
    first = tests[0]
    is_received = first.is_udp or first.is_server or bool(first.options.get("reverse"))
    return Throughput(
        time_s=np.concatenate([part.time_s for part in parts]),
        interval_s=np.concatenate([part.interval_s for part in parts]),
        rate_bps=np.concatenate(rates) * expansion,
        direction=way,
        is_capacity=False,
        rtt_s=rtt_s if np.isfinite(rtt_s).any() else None,
        arrived=None if is_received or way == "reverse" else _arrived(tests, expansion),
    )


def _arrived(tests: list[_Test], expansion: float) -> Arrived:
    """Returns what the receivers counted or, if a result breaks off, what had left the sender at least."""
    each = [
        arrived(test.total("sum_received"), expansion)
        or sent(
            test.forward.rate_bps,
            test.forward.interval_s,
            np.multiply(test.forward.cwnd_bytes, test.connections),
            expansion,
        )
        for test in tests
    ]
    return Arrived(sum(one.ip_bytes for one in each), sum(one.within_s for one in each))


def _offered(tests: list[_Test], way: Direction, packet_bytes: float) -> Offered | None:
    if not tests[0].is_udp:
        return None
    parts = [_way(test, way) for test in tests]
    columns = ((p.interval_s, p.sent_packets, p.lost_packets) for p in parts)
    totals = [test.total("sum", way) for test in tests]
    return offered(zip(*columns, strict=True), totals, way, packet_bytes)


def _left_the_buffer(test: _Test, part: Way) -> Floats:
    """Subtracts what only filled the sender's buffer: iperf3 counts data handed to TCP.

    At the end, the buffer's contents are what was sent and has not arrived.
    """
    rates, interval_s = np.array(part.rate_bps), np.array(part.interval_s)
    way: Direction = "reverse" if part is test.reverse else "forward"
    if _is_unheard(test, way):
        return np.zeros(len(rates))
    sent = number(test.total("sum_sent"), "bytes")
    received = number(test.total("sum_received"), "bytes")
    ended = _lost_at_the_end(test, "forward") if part is test.forward else None
    if test.is_udp and part.lost is None and ended is not None:
        # The sender counts what it sends; how much of that was lost is known at the end.
        arrives: Floats = rates * (1 - ended[1] / ended[0])
        return arrives
    if test.is_udp or part is test.reverse or test.options.get("reverse") or not sent or not received:
        return rates
    carried = np.cumsum(rates * interval_s) - 8 * max(0.0, sent - received)
    left: Floats = np.diff(np.maximum(carried, 0.0), prepend=0.0) / interval_s
    return left


def _is_unheard(test: _Test, way: Direction) -> bool:
    return is_unheard(test.total("sum_sent", way), test.total("sum_received", way))


def _round_trips(tests: list[_Test], packet_bytes: float) -> RoundTrips | None:
    """Returns the sender's smoothed RTTs, one per interval."""
    parts = [way for test in tests for way in (test.forward, test.reverse) if not np.isnan(way.rtt_s).all()]
    if not parts:
        return None
    time_s, rtt_s = (
        np.concatenate(columns) for columns in zip(*((p.time_s, p.rtt_s) for p in parts), strict=True)
    )
    known = np.isfinite(rtt_s)
    least = [
        rtt
        for test in tests
        for stream in objects_of(test.end, "streams")
        if (rtt := number(object_of(stream, "sender"), "min_rtt"))
    ]
    order = np.argsort(time_s[known], kind="stable")
    least_s = min(least) / 1e6 if least else None
    return RoundTrips(time_s[known][order], rtt_s[known][order], packet_bytes, least_s)


def _losses(tests: list[_Test], way: Direction, packet_bytes: float) -> LossCount | None:
    """Returns the losses of UDP. The receiver knows them and reports them at the end."""
    packets = lost = 0
    for test in tests:
        if not test.is_udp:
            return None
        part = _way(test, way)
        if part.lost is not None and part.packets:
            packets, lost = packets + part.packets, lost + part.lost
        elif (ended := _lost_at_the_end(test, way)) is not None:
            packets, lost = packets + ended[0], lost + ended[1]
    return LossCount(packets, lost, way, packet_bytes) if packets else None


def _lost_at_the_end(test: _Test, way: Direction) -> tuple[int, int] | None:
    """Returns the packets and the lost ones of the total; None if there is none, or it cannot be."""
    total = test.total("sum", way)
    packets, lost = number(total, "packets"), losses(total)
    if packets and _is_unheard(test, way):
        # A receiver that got no packet has missed none.
        return int(packets), int(packets)
    if not packets or lost is None or not 0 <= lost <= packets:
        return None
    return int(packets), int(lost)


def _loss_notes(tests: list[_Test], ways: list[Direction]) -> list[str]:
    notes = []
    for test in tests:
        for way in ways:
            part = _way(test, way)
            if part.impossible:
                many = f"{part.impossible} of {len(part.time_s)}"
                notes.append(
                    f"The losses of {many} intervals are left out: negative, or more than the packets, as "
                    "iperf3's -O makes them."
                )
            lost = losses(test.total("sum", way))
            if part.lost is None and lost is not None and _lost_at_the_end(test, way) is None:
                notes.append(f"iperf3's total of {lost:.0f} lost packets cannot be, and is left out.")
    return notes


def _reordering(tests: list[_Test], ways: list[Direction]) -> tuple[Reordering, ...]:
    found = []
    for way in ways:
        packets = late = 0
        for test in tests:
            is_sender = test.is_server == (way == "reverse")
            for stream in objects_of(test.end, "streams"):
                udp = object_of(stream, "udp")
                of_way = len(ways) == 1 or udp.get("sender") is is_sender
                if of_way and (count := number(udp, "out_of_order")) is not None:
                    late += int(count)
                    packets += int(number(udp, "packets") or 0)
        if packets:
            found.append(Reordering(packets, min(late, packets), np.empty(0), way))
    return tuple(found)


def _transfer(tests: list[_Test], packet_bytes: float, payload_bytes: float) -> Transfer | None:
    retransmissions, sent_bytes = 0, 0.0
    for test in tests:
        total = test.total("sum_sent")
        count = number(total, "retransmits")
        if count is None:
            count = test.forward.retransmissions
        if count is None:
            return None
        retransmissions += int(count)
        # Of what was written, only what arrived is known to have been sent.
        written = float(np.dot(test.forward.rate_bps, test.forward.interval_s)) / 8
        sent_bytes += number(test.total("sum_received"), "bytes") or written
    first = tests[0]
    algorithm = first.end.get("sender_tcp_congestion")
    way = first.forward
    return Transfer(
        data_packets=math.ceil(sent_bytes / payload_bytes),
        retransmissions=retransmissions,
        mss_bytes=int(payload_bytes),
        congestion_control=algorithm if isinstance(algorithm, str) else None,
        connections=first.connections,
        course=course(way.interval_s, way.rtt_s, way.cwnd_bytes, way.resent, omitted_s(first.options))
        if len(tests) == 1
        else None,
        arrived=arrived(first.total("sum_received"), packet_bytes / payload_bytes)
        if len(tests) == 1
        else None,
    )


def _notes(test: _Test, ways: list[Direction]) -> list[str]:
    notes = []
    if len(ways) > 1:
        notes.append("The forward direction is from iperf3's client to its server.")
    elif test.options.get("reverse"):
        notes.append("The data went from iperf3's server to its client (--reverse).")
    else:
        notes.append("The data went from iperf3's client to its server.")
    if test.is_udp and not _is_unheard(test, "forward"):
        jitter_ms = number(test.total("sum"), "jitter_ms")
        target = number(test.options, "target_bitrate")
        if jitter_ms is not None:
            notes.append(f"iperf3's jitter was {jitter_ms:.3g} ms.")
        if target:
            notes.append(
                f"iperf3 sent {target / 1e6:.4g} Mbit/s, as it was told to: the link may carry more."
            )
    return notes


def _way(test: _Test, way: Direction) -> Way:
    return test.reverse if way == "reverse" else test.forward


def _is_end(part: Json) -> bool:
    """Returns whether it is the total of a UDP test, which lacks `sum_sent` in older versions, not an
    interval."""
    return any("udp" in stream for stream in objects_of(part, "streams")) or "cpu_utilization_percent" in part


def _total(part: Json, key: str, is_sender: bool) -> Json:
    """Returns a direction's total. Until 3.10, `--bidir` writes those of both directions under one key."""
    of_way = [each for each in _repeated(part, key.removesuffix(_REVERSE)) if each.get("sender") is is_sender]
    return of_way[0] if len(of_way) == 1 else object_of(part, key)


def _repeated(part: Json, key: str) -> list[Json]:
    value = part.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, Repeated) else []


READER = Reader("iperf3", "a result of `iperf3 --json -c HOST > result.json`", recognises, read)
