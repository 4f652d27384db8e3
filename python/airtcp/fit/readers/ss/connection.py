"""The samples of one TCP connection."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from airtcp.facts.headers import HEADER_BYTES
from airtcp.fit.findings import Value
from airtcp.fit.measurement import (
    Arrived,
    Course,
    Floats,
    Measurement,
    Reordering,
    RoundTrips,
    Throughput,
    Transfer,
)

Fields = dict[str, tuple[float, float | None]]
"""By name, the numbers before and after the stroke."""
USUAL_INTERVAL_S = 1.0
_DELIVERY = re.compile(r"\bdelivery_rate (\d{1,18}(?:\.\d{1,9})?)([KMGT]?)bps")
_BUSY = re.compile(r"\bbusy:(\d{1,15})ms")
_BULK = 0.9
"""A connection that had data to send for this share of its life is a transfer that can be repeated."""
_FEW_SAMPLES = 4
_TIMESTAMP_S = 1e-3
"""Of Linux's TCP timestamps."""
_FORGETS_AFTER_S = 300.0
"""Linux's `tcp_min_rtt_wlen`: `minrtt` is the least of so long."""
_PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_FLAGS = frozenset(("ts", "sack", "ecn", "ecnseen", "fastopen"))
_ALGORITHM = re.compile(r"[a-z][a-z0-9_-]*$")
_RECEIVES_MORE = 10
_NEVER = float("nan")


@dataclass
class Connection:
    """The samples of one connection."""

    name: str
    hosts: str
    """Of both ends, without ports: connections between the same hosts share their path."""
    at_s: array[float] = field(default_factory=lambda: array("d"))
    """NaN if no date precedes the sample."""
    turns: array[int] = field(default_factory=lambda: array("L"))
    """Which run of ss each sample is of."""
    rtt_s: array[float] = field(default_factory=lambda: array("d"))
    acked: array[float] = field(default_factory=lambda: array("d"))
    received: array[float] = field(default_factory=lambda: array("d"))
    delivery_bps: array[float] = field(default_factory=lambda: array("d"))
    cwnd: array[float] = field(default_factory=lambda: array("d"))
    """In packets."""
    resent: array[float] = field(default_factory=lambda: array("d"))
    """Retransmissions so far."""
    busy_s: array[float] = field(default_factory=lambda: array("d"))
    """For how long it has had something to send."""
    last: Fields = field(default_factory=dict)
    least_s: float | None = None
    least_exact_s: float | None = None
    """Of those that are no whole milliseconds."""
    algorithm: str | None = None
    has_ecn: bool = False

    @property
    def bytes(self) -> float:
        return self.acked[-1] + self.received[-1]

    @property
    def receives(self) -> bool:
        return self.received[-1] > _RECEIVES_MORE * self.acked[-1]

    @property
    def is_dated(self) -> bool:
        return bool(np.isfinite(np.array(self.at_s)).all())

    def take(self, at_s: float, turn: int, line: str, fields: Fields) -> None:
        self.last = fields
        self.turns.append(turn)
        self.at_s.append(at_s)
        self.rtt_s.append(fields["rtt"][0] / 1e3 if "rtt" in fields else _NEVER)
        self.acked.append(bytes_acked(fields))
        self.received.append(_value(fields, "bytes_received"))
        delivery = _DELIVERY.search(line)
        self.delivery_bps.append(float(delivery[1]) * _PREFIXES[delivery[2]] if delivery else _NEVER)
        self.cwnd.append(fields["cwnd"][0] if "cwnd" in fields else _NEVER)
        self.resent.append(fields.get("retrans", (0.0, None))[1] or 0.0)
        busy = _BUSY.search(line)
        self.busy_s.append(float(busy[1]) / 1e3 if busy else _NEVER)
        if "minrtt" in fields:
            least_ms = fields["minrtt"][0]
            self.least_s = min(least_ms / 1e3, self.least_s or np.inf)
            if least_ms % 1:
                self.least_exact_s = min(least_ms / 1e3, self.least_exact_s or np.inf)
        words = line[: line.find(" rto:")].split()
        self.has_ecn |= "ecn" in words
        names = [word for word in words if _ALGORITHM.match(word) and word not in _FLAGS]
        self.algorithm = names[-1] if names else self.algorithm

    def measured(self, path: Path, began_s: float, *, by_date: bool) -> Measurement:
        """Returns what it shows; times count from `began_s`."""
        time_s = np.maximum.accumulate(self.times(by_date=by_date) - began_s)
        return Measurement(
            source=path,
            format="samples of ss -ti",
            round_trips=self._round_trips(time_s),
            throughput=self._throughput(time_s, np.array(self.received if self.receives else self.acked)),
            reordering=self._reordering(),
            transfer=None if self.receives else self._transfer(time_s),
            load="forward" if self.receives else None,
            is_seen_from_far=self.receives,
        )

    def times(self, *, by_date: bool) -> Floats:
        """Returns when each sample was taken."""
        turns: Floats = np.array(self.turns, dtype=np.float64) * USUAL_INTERVAL_S
        return np.array(self.at_s) if by_date else turns

    @property
    def mss_bytes(self) -> float:
        return _value(self.last, "mss") or 1448.0

    def _round_trips(self, time_s: Floats) -> RoundTrips | None:
        """Returns the RTTs of samples that acknowledged something since the previous one."""
        rtt_s, acked = np.array(self.rtt_s), np.array(self.acked)
        news = np.concatenate(([True], (np.diff(acked) != 0) | (np.diff(rtt_s) != 0)))
        news &= np.isfinite(rtt_s)
        if not news.any():
            return None
        return RoundTrips(time_s[news], rtt_s[news], self.mss_bytes + HEADER_BYTES, self.least_s)

    def _throughput(self, time_s: Floats, count: Floats) -> tuple[Throughput, ...]:
        """Returns the throughput of IP packets. A lone sample has the delivery rate."""
        expansion = (self.mss_bytes + HEADER_BYTES) / self.mss_bytes
        interval_s, grown = np.diff(time_s), np.diff(count)
        some = (interval_s > 0) & (grown >= 0)
        if some.any() and grown[some].any():
            rate_bps = grown[some] * 8 / interval_s[some] * expansion
            return (Throughput(time_s[:-1][some], interval_s[some], rate_bps, "forward", is_capacity=False),)
        delivery = np.array(self.delivery_bps)
        delivery = delivery[np.isfinite(delivery) & (delivery > 0)][-1:] * expansion
        if not len(delivery):
            return ()
        return (Throughput(np.zeros(1), np.ones(1), delivery, "forward", is_capacity=False),)

    def _transfer(self, time_s: Floats) -> Transfer | None:
        resent = int(self._retransmitted())
        if "data_segs_out" in self.last:
            sent = int(_value(self.last, "data_segs_out"))
        elif self.acked[-1] > 0:
            # Before Linux 4.6, the packets are those that the bytes took.
            sent = int(np.ceil(self.acked[-1] / self.mss_bytes)) + resent
        else:
            return None
        # Kernels that report `bytes_sent` also count DSACKs, and ss omits zeros.
        counts_dsacks = "bytes_sent" in self.last
        course, arrived = self._course(time_s) or (None, None)
        return Transfer(
            data_packets=max(sent - resent, 0),
            retransmissions=resent,
            spurious=int(_value(self.last, "dsack_dups")) if counts_dsacks else None,
            mss_bytes=int(self.mss_bytes),
            congestion_control=self.algorithm,
            ecn=self.has_ecn or None,
            course=course,
            arrived=arrived,
            least_s=self._least() if course is not None and _begun_s(course) < _FORGETS_AFTER_S else None,
        )

    def _least(self) -> Value | None:
        """Returns `minrtt`. A round trip that timestamps tell is rounded down to a whole millisecond."""
        if self.least_s is None:
            return None
        highest = min(self.least_exact_s or np.inf, self.least_s + _TIMESTAMP_S)
        return Value(highest, self.least_s, highest)

    def _course(self, time_s: Floats) -> tuple[Course, Arrived] | None:
        """Returns what happened when, and what arrived; None unless it has been sending all the time."""
        acked, spans_s = np.array(self.acked), np.diff(time_s)
        grown = float(acked[-1] - acked[0])
        if len(acked) < _FEW_SAMPLES or grown <= 0 or not (spans_s > 0).all() or (np.diff(acked) < 0).any():
            return None
        # It had something to send since it began; ss omits zeros.
        begun_s = float(np.nan_to_num(self.busy_s[0]))
        lasted_s = begun_s + float(time_s[-1] - time_s[0])
        if not self.busy_s[-1] >= _BULK * lasted_s:
            return None
        course = Course(
            begun_s + time_s[1:] - time_s[0],
            spans_s,
            np.array(self.rtt_s)[1:],
            np.array(self.cwnd)[1:] * self.mss_bytes,
            np.maximum(np.diff(self.resent), 0.0),
        )
        expansion = (self.mss_bytes + HEADER_BYTES) / self.mss_bytes
        return course, Arrived(float(acked[-1]) * expansion, lasted_s)

    def _retransmitted(self) -> float:
        in_all = self.last.get("retrans", (0.0, None))[1]
        return in_all or 0.0

    def _reordering(self) -> tuple[Reordering, ...]:
        packets = int(_value(self.last, "data_segs_out"))
        late = int(_value(self.last, "reord_seen"))
        return (Reordering(packets, late, np.empty(0), "forward"),) if packets and late else ()


def _begun_s(course: Course) -> float:
    """Returns how long it had been sending at the first sample."""
    return float(course.end_s[0] - course.interval_s[0])


def bytes_acked(fields: Fields) -> float:
    return _value(fields, "bytes_acked") or _value(fields, "bytes_sent")


def _value(fields: Fields, name: str) -> float:
    """ss omits zeros."""
    return fields[name][0] if name in fields else 0.0
