"""Collects all packets to one host: which were answered, when they were sent, which arrived late."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from airtcp.fit.measurement import Fates, Floats, Reordering, RoundTrips, time_of_day
from airtcp.fit.readers.ping.events import Answer, Begin, System, Total

MAX_PACKETS = 1 << 22
"""Per file: 48 days at one a second, 70 MB."""

_Indices = npt.NDArray[np.int64]

_USUAL_INTERVAL_S = 1.0
_WINDOWS_TIMEOUT_S = 4.0
_CLOCK_SLACK_S = 1.0
_ENOUGH_S = 20.0
"""Dates to the second tell the mean interval over so long a time to 5 %."""
_BELOW_MS = 0.5
_NEVER = float("nan")


class Full(Exception):
    """There is no room for another packet."""


@dataclass
class Room:
    """Room for packets to all hosts together."""

    packets: int = MAX_PACKETS

    def take(self, packets: int) -> int:
        """Takes as many of them as there is room for."""
        taken = min(packets, self.packets)
        self.packets -= taken
        return taken


@dataclass
class Series:
    """Packets in order of sending; each start of `ping` begins a run."""

    host: str
    room: Room
    system: System | None = None
    ip_bytes: int | None = None
    lengths: list[tuple[int, int]] = field(default_factory=list)
    """The index at which a run with another length begins, and the length."""
    rtt_ms: array[float] = field(default_factory=lambda: array("d"))
    """NaN: no answer."""
    came_s: array[float] = field(default_factory=lambda: array("d"))
    late: array[int] = field(default_factory=lambda: array("q"))
    """Packets answered after a packet sent later."""
    presumed: array[int] = field(default_factory=lambda: array("q"))
    """Packets known only from a line in an unknown language."""
    confirmed: int = 0
    """Number of presumed packets that the summary counts too."""
    unreadable: array[int] = field(default_factory=lambda: array("q"))
    """Packets whose answer has no readable time: neither lost nor received, without further evidence."""
    answers: int = 0
    stamped: int = 0
    below: int = 0
    duplicates: int = 0
    runs: int = 0
    about_s: list[tuple[int, float]] = field(default_factory=list)
    """The index, and the time to the second, of the first and the last answer whose line has it."""
    _base: int = 0
    """Index of the run's first packet."""
    _first: int | None = None
    """Sequence number of the run's first packet; None: taken from the first line."""
    _answered: int = -1
    """Index of the latest packet answered so far."""
    _is_over: bool = True
    _interval_sum_s: float = 0.0
    _intervals: int = 0

    def begin(self, begin: Begin | None) -> None:
        """Begins a run."""
        self._base = len(self.rtt_ms)
        self._first = begin.first_sequence if begin else None
        self._answered = self._base - 1
        self._is_over = False
        self.runs += 1
        if begin:
            self.system = begin.system
            self.ip_bytes = begin.ip_bytes
            if not self.lengths or self.lengths[-1][1] != begin.ip_bytes:
                self.lengths.append((self._base, begin.ip_bytes))

    def answer(self, answer: Answer) -> None:
        if self._is_over:
            self._go_on(answer.sequence)
        self.system = answer.system or self.system
        self.ip_bytes = self.ip_bytes or answer.ip_bytes
        if answer.sequence is None:
            index = len(self.rtt_ms)
        else:
            index = self._index(answer.sequence)
            if index < len(self.rtt_ms) and not math.isnan(self.rtt_ms[index]):
                if answer.is_duplicate:
                    self.duplicates += 1
                    return
                # The same number again: `ping` was restarted, and its heading is missing.
                self.begin(None)
                index = self._index(answer.sequence)
        self._send(index)
        self._book(index, answer)

    def unanswered(self, sequence: int | None, *, presumed: bool = False) -> None:
        """Records a packet that was sent and of which nothing more is known yet."""
        if self._is_over:
            self._go_on(sequence)
        index = len(self.rtt_ms) if sequence is None else self._index(sequence)
        if presumed:
            self.presumed.append(index)
        self._send(index)

    def untimed(self, sequence: int) -> None:
        """Records an answer without a readable time. Its number may be truncated, so it begins no run."""
        if self._is_over or self._first is None:
            return
        index = self._index_in_run(sequence)
        if index >= self._base:
            if not self.room.take(1):
                raise Full
            self.unreadable.append(index)

    def end(self, total: Total | None) -> None:
        """Ends the run; its summary reports packets lost at its end."""
        if self._is_over or total is None:
            self._is_over = True
            return
        self._is_over = True
        self._settle(total.sent)
        if total.sent > len(self.rtt_ms) - self._base:
            self._send(self._base + total.sent - 1)
        if total.time_s and total.sent > 1:
            self._interval_sum_s += total.time_s
            self._intervals += total.sent - 1

    def perhaps_on_their_way(self) -> int:
        """Returns the unanswered packets at the end, if they may have been in flight when `ping` was
        stopped."""
        if not self.answers:
            return 0
        last = next((back for back, rtt in enumerate(reversed(self.rtt_ms)) if not math.isnan(rtt)), 0)
        unreadable = {
            index for index in self.unreadable if len(self.rtt_ms) - last <= index < len(self.rtt_ms)
        }
        interval_s = self._interval_sum_s / self._intervals if self._intervals else _USUAL_INTERVAL_S
        in_flight = int(self.rtt_ms[-1 - last] / 1e3 / max(interval_s, 1e-6)) + 1
        return last - len(unreadable) if last <= in_flight and not self.is_windows else 0

    @property
    def is_windows(self) -> bool:
        return self.system == "Windows"

    @property
    def is_ipv6(self) -> bool:
        return ":" in self.host

    @property
    def has_stamps(self) -> bool:
        return self.answers > 0 and self.stamped == self.answers

    @property
    def has_interval(self) -> bool:
        return self._intervals > 0 or self._interval_by_dates() is not None

    def measured(self) -> tuple[RoundTrips | None, Fates, Reordering]:
        """Returns what the series shows of the path. Without any answer there are no round trips."""
        rtt_s = np.array(self.rtt_ms) / 1e3
        answered = np.flatnonzero(~np.isnan(rtt_s)).astype(np.int64)
        sent_s, interval_s = self._sending(rtt_s, answered)
        lost = np.isnan(rtt_s)
        told = np.ones(len(lost), dtype=np.bool_)
        unreadable = np.array(self.unreadable, dtype=np.int64)
        told[unreadable[unreadable < len(told)]] = False
        known = told | ~lost
        first_s = float(sent_s[0]) if len(sent_s) else 0.0
        began_s, sent_s = time_of_day(first_s), sent_s - first_s
        trips = None
        if self.answers:
            trips = RoundTrips(sent_s[answered], rtt_s[answered], self.ip_bytes, began_s=began_s)
        fates = Fates(lost[known], "both", self.ip_bytes, interval_s, sent_s[known])
        if len(self.lengths) > 1:
            sizes = self._sizes(len(lost))
            fates = replace(fates, packet_bytes=float(sizes[known].mean()), sizes=sizes[known])
        return (
            trips,
            fates,
            self._reordering(sent_s[answered], rtt_s[answered], answered),
        )

    def _sizes(self, packets: int) -> Floats:
        """Returns the length of each packet; runs before the first heading have the length of the next."""
        sizes = np.empty(packets)
        for place, (index, ip_bytes) in enumerate(self.lengths):
            sizes[index if place else 0 :] = ip_bytes
        return sizes

    def _go_on(self, sequence: int | None) -> None:
        """Handles packets after a summary. Windows prints one on Ctrl-Break too, and a heading for each run;
        others begin anew."""
        if sequence is None and self.runs:
            self._is_over = False
        else:
            self.begin(None)

    def _index(self, sequence: int) -> int:
        """Unwraps a 16-bit sequence number to the packet nearest to the last one."""
        if self._first is None or (self._answered < self._base and sequence < self._first):
            self._first = sequence
        index = self._index_in_run(sequence)
        if index < self._base:
            self.begin(None)
            return self._index(sequence)
        return index

    def _index_in_run(self, sequence: int) -> int:
        """Returns the index, which precedes the run's first packet if the number belongs to another run."""
        following = len(self.rtt_ms)
        ahead = sequence - (self._first or 0) - (following - self._base)
        if sequence <= 0xFFFF:
            ahead = ((ahead + 0x8000) & 0xFFFF) - 0x8000
        return following + ahead

    def _send(self, index: int) -> None:
        """Records that everything up to this packet was sent."""
        known = len(self.rtt_ms)
        if index < known:
            return
        taken = self.room.take(index + 1 - known)
        if taken == 1:
            self.rtt_ms.append(_NEVER)
            self.came_s.append(_NEVER)
        else:
            unknown = array("d", [_NEVER]) * taken
            self.rtt_ms.extend(unknown)
            self.came_s.extend(unknown)
        if known + taken <= index:
            raise Full

    def _book(self, index: int, answer: Answer) -> None:
        if index < self._answered:
            self.late.append(index)
        else:
            self._answered = index
        rtt_ms = answer.rtt_ms
        if rtt_ms is None:
            return
        self.answers += 1
        if answer.is_below:
            self.below += 1
            rtt_ms *= _BELOW_MS
        self.rtt_ms[index] = rtt_ms
        if answer.about_s is not None:
            self.about_s[1:] = [(index, answer.about_s)]
        if answer.at_s is not None:
            self.stamped += 1
            self.came_s[index] = answer.at_s

    def _settle(self, sent: int) -> None:
        """Counts lines that were not understood as packets if the summary does; otherwise drops them."""
        first = bisect_left(self.presumed, self._base)
        presumed = self.presumed[first:]
        if not presumed:
            return
        if sent == len(self.rtt_ms) - self._base:
            self.confirmed = len(self.presumed)
            return
        del self.presumed[first:]
        for column in (self.rtt_ms, self.came_s):
            kept = np.delete(np.array(column[self._base :]), np.array(presumed) - self._base)
            column[self._base :] = array("d", kept.tobytes())

    def _sending(self, rtt_s: Floats, answered: _Indices) -> tuple[Floats, float]:
        """Returns when each packet was sent, by the log's clock, and the usual interval."""
        if self.has_stamps and (stamped := self._by_stamps(rtt_s, answered)) is not None:
            return stamped
        if self.is_windows:
            # One a second, or as soon as the answer is there, or 4 s after an unanswered one.
            took_s = np.where(np.isnan(rtt_s), _WINDOWS_TIMEOUT_S, np.maximum(rtt_s, _USUAL_INTERVAL_S))
            return np.concatenate(([0.0], np.cumsum(took_s[:-1]))), float(np.median(took_s))
        interval_s = self._interval_sum_s / self._intervals if self._intervals else self._interval_by_dates()
        interval_s = interval_s or _USUAL_INTERVAL_S
        return np.arange(len(rtt_s), dtype=np.float64) * interval_s, interval_s

    def _interval_by_dates(self) -> float | None:
        """Returns the mean interval of a run whose dates span enough seconds."""
        if self.runs != 1 or len(self.about_s) < 2:
            return None
        (first, began_s), (last, ended_s) = self.about_s
        spans = last > first and ended_s - began_s >= _ENOUGH_S
        return (ended_s - began_s) / (last - first) if spans else None

    def _by_stamps(self, rtt_s: Floats, answered: _Indices) -> tuple[Floats, float] | None:
        """Returns None if the clock was set back meanwhile."""
        at_s = np.array(self.came_s)[answered] - rtt_s[answered]
        steps_s = np.diff(at_s)
        if (steps_s < -_CLOCK_SLACK_S).any():
            return None
        interval_s = float(np.median(steps_s / np.diff(answered))) if len(steps_s) else _USUAL_INTERVAL_S
        at_s = np.maximum.accumulate(at_s)
        packets = np.arange(len(rtt_s))
        sent_s = np.interp(packets, answered, at_s)
        sent_s = np.where(packets < answered[0], at_s[0] - (answered[0] - packets) * interval_s, sent_s)
        return sent_s, interval_s

    def _reordering(self, sent_s: Floats, rtt_s: Floats, answered: _Indices) -> Reordering:
        came_s = sent_s + rtt_s
        first_after_s = np.minimum.accumulate(came_s[::-1])[::-1]
        late = np.searchsorted(answered, np.array(self.late, dtype=np.int64))
        late = late[late < len(answered) - 1]
        late_by_s = came_s[late] - first_after_s[late + 1]
        return Reordering(len(answered), len(self.late), late_by_s[late_by_s > 0], "both")
