"""Turns a series of probes of any program into round trips, fates and one-way delays."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np

from airtcp.fit.measurement import Direction, Fates, Flags, Floats, OneWay, RoundTrips, time_of_day

NOT_LOST, THERE, BACK, SOMEWHERE = range(4)
"""The fate of a probe."""
_WINDOW_S = 5.0
"""Window in which the lowest delays of either direction are compared, to find the clocks' drift."""


@dataclass
class ProbeSeries:
    """Columns with a value per probe; NaN if unknown."""

    time_s: array[float] = field(default_factory=lambda: array("d"))
    sizes: array[float] = field(default_factory=lambda: array("d"))
    """Bytes of the IP packets."""
    rtt_s: array[float] = field(default_factory=lambda: array("d"))
    there_s: array[float] = field(default_factory=lambda: array("d"))
    back_s: array[float] = field(default_factory=lambda: array("d"))
    fate: array[int] = field(default_factory=lambda: array("b"))

    def __len__(self) -> int:
        return len(self.time_s)

    def add(
        self,
        time_s: float,
        ip_bytes: float,
        fate: int,
        rtt_s: float = np.nan,
        there_s: float = np.nan,
        back_s: float = np.nan,
    ) -> None:
        columns = (self.time_s, self.sizes, self.rtt_s, self.there_s, self.back_s)
        for column, value in zip(columns, (time_s, ip_bytes, rtt_s, there_s, back_s), strict=True):
            column.append(value)
        self.fate.append(fate)

    def measured(
        self, clock_error_s: float | None = None, began_s: float | None = None
    ) -> tuple[RoundTrips | None, tuple[Fates, ...], tuple[OneWay, ...]]:
        """Returns everything in order of sending. Without any answer there are no round trips."""
        time_s = np.array(self.time_s)
        order = np.argsort(time_s, kind="stable")
        began_s = began_s or time_of_day(float(time_s.min()))
        time_s, sizes = time_s[order] - time_s.min(), np.array(self.sizes)[order]
        rtt_s, fate = np.array(self.rtt_s)[order], np.array(self.fate)[order]
        there_s, back_s = np.array(self.there_s)[order], np.array(self.back_s)[order]
        # Full packets take longer to transmit.
        chosen: Flags = np.isfinite(rtt_s) & _are_small(sizes)
        if not chosen.any():
            chosen = np.isfinite(rtt_s)
        known: Flags = chosen & np.isfinite(there_s) & np.isfinite(back_s)
        packet_bytes = _mean(sizes[chosen])
        trips = None
        if chosen.any():
            trips = RoundTrips(time_s[chosen], rtt_s[chosen], packet_bytes, began_s=began_s)
        has_ways = bool(known.any())
        fates = _fates(time_s, sizes, fate, has_ways=has_ways)
        if not has_ways:
            return trips, fates, ()
        time_s, there_s, back_s = time_s[known], there_s[known], back_s[known]
        if clock_error_s is None:
            there_s, back_s = _with_one_clock(time_s, there_s, back_s)
        ways = (
            OneWay(time_s, there_s, "forward", packet_bytes or 0.0, clock_error_s),
            OneWay(time_s, back_s, "reverse", packet_bytes or 0.0, clock_error_s),
        )
        return trips, fates, ways


def _are_small(sizes: Floats) -> Flags:
    """Selects the smaller of two lengths; all packets if the lengths are alike or unknown."""
    if np.isnan(sizes).any():
        return np.ones(len(sizes), dtype=bool)
    small: Flags = sizes <= np.sqrt(sizes.min() * sizes.max())
    return small


def _mean(sizes: Floats) -> float | None:
    return float(sizes.mean()) if len(sizes) and np.isfinite(sizes).all() else None


def _fates(time_s: Floats, sizes: Floats, fate: Floats, *, has_ways: bool) -> tuple[Fates, ...]:
    """Returns fates by direction, if known; a packet lost on the way out says nothing about the way back."""
    if not has_ways:
        return (_fates_of(time_s, sizes, fate != NOT_LOST, "both"),)
    known = fate != SOMEWHERE
    arrived = known & (fate != THERE)
    ways = [_fates_of(time_s[known], sizes[known], fate[known] == THERE, "forward")]
    if arrived.any():
        ways.append(_fates_of(time_s[arrived], sizes[arrived], fate[arrived] == BACK, "reverse"))
    return tuple(ways)


def _fates_of(time_s: Floats, sizes: Floats, lost: Flags, direction: Direction) -> Fates:
    interval_s = float(np.median(np.diff(time_s))) if len(time_s) > 1 else None
    has_sizes = bool(np.isfinite(sizes).all()) and len(np.unique(sizes)) > 1
    return Fates(lost, direction, _mean(sizes), interval_s or None, time_s, sizes if has_sizes else None)


def _with_one_clock(time_s: Floats, there_s: Floats, back_s: Floats) -> tuple[Floats, Floats]:
    """Removes the clocks' offset and drift: each direction's lowest delay becomes half the lowest round
    trip."""
    window = (time_s / _WINDOW_S).astype(np.int64)
    differ = [
        (float(time_s[at].mean()), (float(there_s[at].min()) - float(back_s[at].min())) / 2)
        for each in np.unique(window)
        if (at := window == each).any()
    ]
    when, offset = np.array(differ).T
    drift = float(np.polyfit(when, offset, 1)[0]) if len(when) > 2 else 0.0
    there_s, back_s = there_s - drift * time_s, back_s + drift * time_s
    apart = (float(there_s.min()) - float(back_s.min())) / 2
    return there_s - apart, back_s + apart
