"""A speed test whichever program ran it, and what several of them show of the path to one server."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from airtcp.fit.draft import milliseconds
from airtcp.fit.measurement import (
    Direction,
    LossCount,
    Measurement,
    QueueRoom,
    RoundTrips,
    Throughput,
    Transfer,
)
from airtcp.fit.text import shown

USUAL_S = 10.0
"""How long a test takes, if it does not say."""
_PACKET_BYTES = 1500
_MOST_PACKETS = 100_000
_FEW_DIGITS = 4
_WAY_NAMES: dict[Direction, str] = {"forward": "download", "reverse": "upload"}


@dataclass
class Loaded:
    """Round trips while a transfer filled the path, in seconds."""

    middle_s: float
    least_s: float | None = None
    greatest_s: float | None = None


@dataclass
class Way:
    """The transfer of one direction, of payload."""

    steps: list[tuple[float, float]]
    """Length in seconds and rate in bit/s of each part."""
    loaded: Loaded | None = None

    @property
    def mean_bps(self) -> float:
        return sum(length * bps for length, bps in self.steps) / sum(length for length, _ in self.steps)


@dataclass
class SpeedTest:
    """A result."""

    program: str
    server: str = ""
    idle_s: float | None = None
    """A round trip without load."""
    least_s: float | None = None
    """The least round trip."""
    ways: dict[Direction, Way] = field(default_factory=dict)
    """The download is forward: its data matter to most people."""
    loss: Fraction | None = None
    """Share of packets lost; its denominator is the least number of packets that it takes."""
    says_no_loss: bool = False
    transfer: Transfer | None = None
    """What the download's TCP resent."""
    loaded_s: list[float] = field(default_factory=list)
    """Smoothed round trips of the download's TCP."""


def share(percent: float, digits: str) -> Fraction:
    """Returns the simplest share that is written so, in percent with those digits."""
    decimals = len(digits.partition(".")[2])
    exact = Fraction(digits) / 100
    # A few digits are rounded, and the share shall be near what they say.
    half = Fraction(1, 2 * 10 ** (decimals + 2)) / (10 if decimals <= _FEW_DIGITS else 1)
    for packets in range(1, _MOST_PACKETS):
        lost = round(exact * packets)
        if lost and abs(Fraction(lost, packets) - exact) <= half:
            return Fraction(lost, packets)
    return Fraction(percent / 100).limit_denominator(_MOST_PACKETS)


def percent_of(value: float) -> Fraction | None:
    """Returns a share that is given as a number in percent; None if it is none, or 0."""
    if not 0 < value < 100:
        return None
    digits = f"{value:.12g}"
    return share(value, digits if re.fullmatch(r"\d+(\.\d+)?", digits) else f"{value:.12f}")


def measurement(path: Path, tests: Sequence[SpeedTest]) -> Measurement:
    """Combines tests of one server."""
    notes = [
        "A speed test shows what its transfers reached: the link may be faster. Only the least round trip is "
        "without a queue."
    ]
    throughput = tuple(
        found for way in _WAY_NAMES if (found := _throughput([test.ways.get(way) for test in tests], way))
    )
    rooms, loaded_notes = _rooms(tests)
    counts, loss_notes = _losses(tests)
    trips, transfer = _round_trips(tests), tests[-1].transfer
    programs = sorted({test.program for test in tests})
    many = f", {len(tests)} tests" if len(tests) > 1 else ""
    return Measurement(
        source=path,
        format=f"speed test ({', '.join(programs)}{many})",
        round_trips=trips,
        loss_counts=counts,
        throughput=throughput,
        queue_rooms=rooms,
        transfer=transfer,
        is_seen_from_far=True,
        notes=(*notes, *loaded_notes, *loss_notes),
    )


def _throughput(ways: Sequence[Way | None], direction: Direction) -> Throughput | None:
    steps = [step for way in ways if way is not None for step in way.steps]
    if not steps:
        return None
    lengths, rates = np.array(steps).T
    starts = np.concatenate(([0.0], np.cumsum(lengths)[:-1]))
    return Throughput(starts, lengths, rates, direction, is_capacity=False)


def _round_trips(tests: Sequence[SpeedTest]) -> RoundTrips | None:
    """Returns those without load, or else those of a transfer, of which only the least counts."""
    idle = [test.idle_s for test in tests if test.idle_s is not None]
    values = idle or [rtt_s for test in tests for rtt_s in test.loaded_s]
    least = [test.least_s for test in tests if test.least_s is not None]
    if not values:
        values = least
    if not values:
        return None
    times = np.arange(len(values), dtype=np.float64)
    return RoundTrips(times, np.array(values), least_s=min(least) if least else None)


def _rooms(tests: Sequence[SpeedTest]) -> tuple[tuple[QueueRoom, ...], list[str]]:
    """Returns how much of a queue the longest round trips took, and a sentence on those under load."""
    rooms, said = [], []
    for direction, name in _WAY_NAMES.items():
        found = [
            (test, way)
            for test in tests
            if (way := test.ways.get(direction)) is not None and way.loaded is not None
        ]
        packets = 0.0
        for test, way in found:
            loaded = way.loaded or Loaded(0.0)
            base_s = min(each for each in (test.least_s, test.idle_s, loaded.middle_s) if each is not None)
            packets = max(packets, (loaded.middle_s - base_s) * way.mean_bps / 8 / _PACKET_BYTES)
        if found:
            last = found[-1][1].loaded or Loaded(0.0)
            span = [each for each in (last.least_s, last.greatest_s) if each is not None]
            span_text = f" ({milliseconds(span[0])} to {milliseconds(span[1])})" if len(span) == 2 else ""
            said.append(f"{milliseconds(last.middle_s)}{span_text} under the {name}")
        if packets >= 1:
            rooms.append(QueueRoom(direction, packets, is_full=False, filled_by=name))
    return tuple(rooms), [f"The round trip was {', '.join(said)}."] if said else []


def _losses(tests: Sequence[SpeedTest]) -> tuple[tuple[LossCount, ...], list[str]]:
    known = [test.loss for test in tests if test.loss is not None]
    if not known:
        silent = any(test.says_no_loss for test in tests)
        note = "It reports no loss, of an unknown number of packets: that bounds nothing."
        return (), [note] if silent else []
    packets, lost = sum(each.denominator for each in known), sum(each.numerator for each in known)
    note = (
        f"It reports its loss as a share, which takes {packets} packets at least; those that "
        "its own queue dropped may be among them."
    )
    return (LossCount(packets, lost, "both"),), [note]


def server_name(*parts: object) -> str:
    """Returns a server's name from what a program tells of it."""
    return shown(" ".join(str(part) for part in parts if isinstance(part, str | int) and str(part).strip()))
