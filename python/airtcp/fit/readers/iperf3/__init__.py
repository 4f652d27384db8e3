"""Reads results of `iperf3 --json` and `iperf3 --json-stream`."""

from __future__ import annotations

import re
from pathlib import Path

from airtcp.fit.json_objects import objects
from airtcp.fit.json_values import number
from airtcp.fit.measurement import Direction, Measurement, Skipped, Subjects
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.readers.iperf3.parts import (
    by_length,
    is_unheard_of,
    lengths_of,
    loss_count,
    loss_notes,
    offered_of,
    reordering,
    round_trips,
    throughput,
    transfer,
)
from airtcp.fit.readers.iperf3.result import Result, Test
from airtcp.fit.text import Skips, TextFile

_LONGEST_RESULT = 1 << 22
_LONGEST_FILE = 1 << 25
_VERSION = re.compile(rb'"version"\s*:\s*"iperf 3')
_AS_TEXT = re.compile(rb"\[ *ID\] +Interval +Transfer")
_WHAT = "results of iperf3"


def recognises(head: bytes) -> float:
    if _AS_TEXT.search(head):
        return 0.5
    if _VERSION.search(head) or b'"test_start"' in head:
        return 0.99
    if not head.lstrip().startswith(b"{"):
        return 0.0
    return 0.9 if b'"streams"' in head and b'"bits_per_second"' in head else 0.0


def read(path: Path) -> Measurement | Subjects:
    text = TextFile(path, Skips(_WHAT, unit="object", units="objects"))
    result = Result()
    for _, entry, _ in objects(text, _LONGEST_RESULT):
        result.take(entry)
        if text.characters > _LONGEST_FILE:
            text.notes.append(f"Only the first {_LONGEST_FILE >> 20} MB are used.")
            break
    if text.skips.count:
        text.notes.append("The result breaks off, or is very long: its intervals are read one by one.")
    return _measurements(path, text, result)


def _measurements(path: Path, text: TextFile, result: Result) -> Measurement | Subjects:
    """Returns what the tests with each host show.

    # Raises
    FileError: no interval of any test can be used.
    """
    hosts: dict[str, list[Test]] = {}
    for test in result.tests:
        protocol = test.options.get("protocol", "TCP")
        if protocol not in ("TCP", "UDP"):
            raise FileError(
                f"{path}: iperf3's test was over {protocol}; test TCP, without --{str(protocol).lower()}"
            )
        if test.forward.time_s:
            hosts.setdefault(test.host, []).append(test)
    if not hosts:
        raise FileError(f"{path}: {_why_nothing(result)}")
    of = {host or "(unknown)": _of(path, text, result, tests) for host, tests in hosts.items()}
    return Subjects("hosts", of) if len(of) > 1 else next(iter(of.values()))


def _of(path: Path, text: TextFile, result: Result, tests: list[Test]) -> Measurement:
    alike = [test for test in tests if test.kind == tests[0].kind]
    notes = list(text.notes)
    if result.error:
        notes.append(f"iperf3 ended with an error: {result.error[:200]}")
    if len(alike) > 1:
        notes.append(f"{len(alike)} tests of one kind stand one after the other, as if without a pause.")
    if left := len(tests) - len(alike):
        notes.append(
            f"Tests of other kinds than the first are left out: {left} "
            "(in protocol, direction, streams or rate)."
        )
    return _measurement(path, alike, text.skips.skipped(), notes)


def _why_nothing(result: Result) -> str:
    if result.error:
        return f"iperf3 measured nothing: {result.error[:200]}"
    if result.tests:
        return "no interval was measured; was iperf3 stopped at once?"
    return "iperf3 prints what can be read with --json only: iperf3 --json -c HOST > result.json"


def _measurement(path: Path, tests: list[Test], skipped: Skipped | None, notes: list[str]) -> Measurement:
    first = tests[0]
    protocol = "UDP" if first.is_udp else "TCP"
    ways: list[Direction] = ["forward", "reverse"] if first.reverse.time_s else ["forward"]
    packet_bytes, payload_bytes = lengths_of(first)
    notes += [*_notes(first, ways), *(loss_notes(tests, ways) if first.is_udp else [])]
    return Measurement(
        source=path,
        format=f"iperf3 ({protocol}{', both ways' if len(ways) > 1 else ''})",
        throughput=tuple(throughput(tests, way, packet_bytes / payload_bytes) for way in ways),
        offered=tuple(each for way in ways if (each := offered_of(tests, way, packet_bytes))),
        round_trips=round_trips(tests, packet_bytes),
        loss_counts=tuple(count for way in ways if (count := loss_count(tests, way, packet_bytes))),
        lengths=() if first.is_udp else tuple(by_length(tests, ways)),
        reordering=reordering(tests, ways) if first.is_udp else (),
        transfer=None if first.is_udp else transfer(tests, packet_bytes, payload_bytes),
        is_seen_from_far=bool(first.options.get("reverse")) and len(ways) == 1,
        skipped=skipped,
        notes=tuple(notes),
    )


def _notes(test: Test, ways: list[Direction]) -> list[str]:
    notes = []
    if len(ways) > 1:
        notes.append("The forward direction is from iperf3's client to its server.")
    elif test.options.get("reverse"):
        notes.append("The data went from iperf3's server to its client (--reverse).")
    else:
        notes.append("The data went from iperf3's client to its server.")
    if test.is_udp and not is_unheard_of(test, "forward"):
        jitter_ms = number(test.total("sum"), "jitter_ms")
        if jitter_ms is not None:
            notes.append(f"iperf3's jitter was {jitter_ms:.3g} ms.")
    is_told = not is_unheard_of(test, "forward") if test.is_udp else test.is_held_back
    if test.told_bps and is_told:
        each = " in each stream" if test.connections > 1 else ""
        notes.append(
            f"iperf3 sent {test.told_bps / 1e6:.4g} Mbit/s{each}, as it was told to: the link may carry more."
        )
    return notes


READER = Reader("iperf3", "a result of `iperf3 --json -c HOST > result.json`", recognises, read)
