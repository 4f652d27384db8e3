"""Combines connections between the same hosts, which share the path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from airtcp.fit.measurement import Measurement, Reordering, RoundTrips, Throughput, Transfer
from airtcp.fit.readers.ss.connection import Connection
from airtcp.fit.readers.ss.lengths import lengths

_MINOR = 0.15
"""A connection that carried no more than this share of the largest one's bytes is left out."""
_DIGITS = 6
"""Of times in s: closer ones are the same."""


def together(path: Path, connections: Sequence[Connection]) -> Measurement:
    """Returns what the major ones show as one transfer of several flows."""
    largest = max(connections, key=lambda each: (each.bytes, len(each.rtt_s)))
    major = [
        each
        for each in connections
        if each is largest or (each.bytes > _MINOR * largest.bytes and each.receives == largest.receives)
    ]
    by_date = all(each.is_dated for each in major)
    began_s = min(float(each.times(by_date=by_date)[0]) for each in major)
    parts = [each.measured(path, began_s, by_date=by_date) for each in major]
    return replace(
        parts[0],
        round_trips=_round_trips([part.round_trips for part in parts if part.round_trips is not None]),
        throughput=_throughput([part.throughput[0] for part in parts if part.throughput]),
        reordering=_reordering([part.reordering[0] for part in parts if part.reordering]),
        lengths=tuple(lengths(each.last for each in connections if not each.receives)),
        transfer=_transfer([part.transfer for part in parts if part.transfer is not None]),
        notes=tuple(_notes(largest, connections, major, by_date=by_date)),
    )


def _round_trips(parts: list[RoundTrips]) -> RoundTrips | None:
    if not parts:
        return None
    time_s, rtt_s = (np.concatenate(each) for each in zip(*((p.time_s, p.rtt_s) for p in parts), strict=True))
    order = np.argsort(time_s, kind="stable")
    least = [part.least_s for part in parts if part.least_s is not None]
    return RoundTrips(time_s[order], rtt_s[order], parts[0].packet_bytes, min(least, default=None))


def _throughput(parts: list[Throughput]) -> tuple[Throughput, ...]:
    """Adds the rates of connections at each time."""
    if len(parts) < 2:
        return tuple(parts)
    starts = np.concatenate([part.time_s for part in parts])
    ends = np.concatenate([part.time_s + part.interval_s for part in parts])
    rates = np.concatenate([part.rate_bps for part in parts])
    edges, place = np.unique(np.round(np.concatenate([starts, ends]), _DIGITS), return_inverse=True)
    changes = np.bincount(place, weights=np.concatenate([rates, -rates]))
    flows = np.bincount(place, weights=np.repeat([1.0, -1.0], len(rates)))
    some = np.cumsum(flows)[:-1] > 0.5
    if not some.any():
        return (parts[0],)
    rate_bps = np.maximum(np.cumsum(changes)[:-1], 0.0)[some]
    return (Throughput(edges[:-1][some], np.diff(edges)[some], rate_bps, "forward", is_capacity=False),)


def _reordering(parts: list[Reordering]) -> tuple[Reordering, ...]:
    if not parts:
        return ()
    packets, late = sum(part.packets for part in parts), sum(part.late for part in parts)
    return (Reordering(packets, late, np.empty(0), "forward"),)


def _transfer(parts: list[Transfer]) -> Transfer | None:
    if not parts:
        return None
    spurious = [part.spurious for part in parts]
    return replace(
        parts[0],
        data_packets=sum(part.data_packets for part in parts),
        retransmissions=sum(part.retransmissions for part in parts),
        spurious=sum(each or 0 for each in spurious) if None not in spurious else None,
        ecn=any(part.ecn for part in parts) or None,
        course=parts[0].course if len(parts) == 1 else None,
        arrived=parts[0].arrived if len(parts) == 1 else None,
        least_s=parts[0].least_s if len(parts) == 1 else None,
    )


def _notes(
    largest: Connection, connections: Sequence[Connection], major: Sequence[Connection], *, by_date: bool
) -> list[str]:
    notes = []
    if len(major) > 1:
        notes.append(
            f"{len(major)} connections of the same two hosts share the path and are combined: their rates "
            "add up."
        )
    if left := len(connections) - len(major):
        notes.append(
            f"Of {len(connections)} connections of these hosts, {left} with few bytes or in the other "
            f"direction are left out; the largest is {largest.name}."
        )
    if not by_date and max(len(each.turns) for each in major) > 1:
        notes.append(
            "The samples have no dates: 1 s between them is assumed (`while sleep 1; do date +%s.%N; ss …`)."
        )
    if largest.receives:
        notes.append(
            "This end receives: what was lost and sent again, the other end knows; run ss there, too."
        )
    least = [each.least_s for each in major if each.least_s is not None]
    if least:
        notes.append(f"Round trips are smoothed by TCP; the least of all was {min(least) * 1e3:.4g} ms.")
    return notes
