"""Reads samples of `ss -ti`: one, or several from a loop around it."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from airtcp.fit import dates
from airtcp.fit.measurement import Floats, Measurement, Reordering, RoundTrips, Throughput, Transfer
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.text import Skips, TextFile

_SOCKET = re.compile(r"(?:tcp +)?(?:[A-Z][A-Z0-9-]+ +)?\d+ +\d+ +(\S+:\S+) +(\S+:\S+)(?: +(.*))?$")
_HEADING = re.compile(r"(?:Netid +)?(?:State +)?Recv-Q +Send-Q\b|Netid\b|State\b")
_INFO = re.compile(r"(?:^| )(?:rto|cwnd|rtt):\d")
_FIELD = re.compile(r"(?:^|(?<=\s))([a-z_]+):(\d{1,18}(?:\.\d{1,9})?)(?:/(\d{1,18}(?:\.\d{1,9})?))?(?=\s|$)")
_DELIVERY = re.compile(r"\bdelivery_rate (\d{1,18}(?:\.\d{1,9})?)([KMGT]?)bps")
_PREFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_FLAGS = frozenset(("ts", "sack", "ecn", "ecnseen", "fastopen"))
_ALGORITHM = re.compile(r"[a-z][a-z0-9_-]*$")
# Headers of IPv4 and TCP, with timestamps.
_HEADER_BYTES = 52
_USUAL_INTERVAL_S = 1.0
_DAY_S = 86400.0
_MAX_CONNECTIONS = 4096
_MAX_SAMPLES = 1 << 20
_RECEIVES_MORE = 10
_NEVER = float("nan")


def recognises(head: bytes) -> float:
    lines = head.decode("utf-8", "replace").splitlines()
    infos = sum(" rto:" in f" {line}" and _INFO.search(line) is not None for line in lines)
    if not infos:
        # Output without -i, which `read` reports.
        return 0.3 if any(_HEADING.match(line) and "Send-Q" in line for line in lines) else 0.0
    known = sum(_is_known(line.strip()) for line in lines)
    return max(0.3, 0.95 * known / len(lines))


def _is_known(line: str) -> bool:
    return not line or any(form.search(line) for form in (_INFO, _SOCKET)) or _is_remark(line)


def _is_remark(line: str) -> bool:
    return (
        _HEADING.match(line) is not None or dates.seconds(line) is not None or not any(map(str.isalnum, line))
    )


def read(path: Path) -> Measurement:
    text = TextFile(path, Skips("output of ss -ti"))
    samples = _Samples()
    for number, line in text.lines():
        if not samples.take(line):
            text.skips.add(number, line)
    best = max(samples.connections.values(), key=lambda each: (each.bytes, len(each.rtt_s)), default=None)
    if best is None:
        raise FileError(f"{path}: no connection's samples: record them with -i, as in `ss -tin dst HOST`")
    text.skips.check(path)
    measured = best.measured(path)
    if not (measured.round_trips or measured.throughput):
        raise FileError(f"{path}: the samples have neither round trips nor rates")
    others = len(samples.connections) - 1
    notes = [*measured.notes, *text.notes]
    if others:
        notes.insert(0, f"Of {others + 1} connections, that with most bytes is used: {best.name}.")
    if samples.is_full:
        notes.append(f"Only the first {_MAX_SAMPLES} samples are used.")
    return Measurement(
        source=path,
        format="samples of ss -ti",
        round_trips=measured.round_trips,
        throughput=measured.throughput,
        reordering=measured.reordering,
        transfer=measured.transfer,
        load=measured.load,
        is_seen_from_far=measured.is_seen_from_far,
        skipped=text.skips.skipped(),
        notes=tuple(notes),
    )


@dataclass
class _Connection:
    """The samples of one connection."""

    name: str
    at_s: array[float] = field(default_factory=lambda: array("d"))
    """NaN if no date precedes the sample."""
    rtt_s: array[float] = field(default_factory=lambda: array("d"))
    acked: array[float] = field(default_factory=lambda: array("d"))
    received: array[float] = field(default_factory=lambda: array("d"))
    delivery_bps: array[float] = field(default_factory=lambda: array("d"))
    last: dict[str, tuple[float, float | None]] = field(default_factory=dict)
    least_s: float | None = None
    algorithm: str | None = None
    has_ecn: bool = False

    @property
    def bytes(self) -> float:
        return self.acked[-1] + self.received[-1]

    def take(self, at_s: float, line: str, fields: dict[str, tuple[float, float | None]]) -> None:
        self.last = fields
        self.at_s.append(at_s)
        self.rtt_s.append(fields["rtt"][0] / 1e3 if "rtt" in fields else _NEVER)
        self.acked.append(_bytes_acked(fields))
        self.received.append(_value(fields, "bytes_received"))
        delivery = _DELIVERY.search(line)
        self.delivery_bps.append(float(delivery[1]) * _PREFIXES[delivery[2]] if delivery else _NEVER)
        if "minrtt" in fields:
            self.least_s = min(fields["minrtt"][0] / 1e3, self.least_s or np.inf)
        words = line[: line.find(" rto:")].split()
        self.has_ecn |= "ecn" in words
        names = [word for word in words if _ALGORITHM.match(word) and word not in _FLAGS]
        self.algorithm = names[-1] if names else self.algorithm

    def measured(self, path: Path) -> Measurement:
        time_s, notes = self._times()
        is_receiver = self.received[-1] > _RECEIVES_MORE * self.acked[-1]
        if is_receiver:
            notes.append(
                "This end receives: what was lost and sent again, the other end knows; run ss there, too."
            )
        if self.least_s is not None:
            notes.append(
                f"Round trips are smoothed by TCP; the least of all was {self.least_s * 1e3:.4g} ms."
            )
        return Measurement(
            source=path,
            format="",
            round_trips=self._round_trips(time_s),
            throughput=self._throughput(time_s, np.array(self.received if is_receiver else self.acked)),
            reordering=self._reordering(),
            transfer=None if is_receiver else self._transfer(),
            load="forward" if is_receiver else None,
            is_seen_from_far=is_receiver,
            notes=tuple(notes),
        )

    @property
    def mss_bytes(self) -> float:
        return _value(self.last, "mss") or 1448.0

    def _times(self) -> tuple[Floats, list[str]]:
        at_s = np.array(self.at_s)
        if np.isfinite(at_s).all():
            # Times of day restart at midnight.
            days = np.concatenate(([0], np.cumsum(np.diff(at_s) < -_DAY_S / 2)))
            at_s = at_s + days * _DAY_S
            return np.maximum.accumulate(at_s - at_s[0]), []
        note = (
            "The samples have no dates: 1 s between them is assumed (`while sleep 1; do date +%s.%N; ss …`)."
        )
        times: Floats = np.arange(len(at_s), dtype=np.float64) * _USUAL_INTERVAL_S
        return times, [note] if len(at_s) > 1 else []

    def _round_trips(self, time_s: Floats) -> RoundTrips | None:
        """Returns the RTTs of samples that acknowledged something since the previous one."""
        rtt_s, acked = np.array(self.rtt_s), np.array(self.acked)
        news = np.concatenate(([True], (np.diff(acked) != 0) | (np.diff(rtt_s) != 0)))
        news &= np.isfinite(rtt_s)
        if not news.any():
            return None
        return RoundTrips(time_s[news], rtt_s[news], self.mss_bytes + _HEADER_BYTES, self.least_s)

    def _throughput(self, time_s: Floats, count: Floats) -> tuple[Throughput, ...]:
        """Returns the throughput of IP packets. A lone sample has the delivery rate."""
        expansion = (self.mss_bytes + _HEADER_BYTES) / self.mss_bytes
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

    def _transfer(self) -> Transfer | None:
        if "data_segs_out" not in self.last:
            return None
        sent, resent = int(_value(self.last, "data_segs_out")), int(self._retransmitted())
        # Kernels that report `bytes_sent` also count DSACKs, and ss omits zeros.
        counts_dsacks = "bytes_sent" in self.last
        return Transfer(
            data_packets=max(sent - resent, 0),
            retransmissions=resent,
            spurious=int(_value(self.last, "dsack_dups")) if counts_dsacks else None,
            mss_bytes=int(self.mss_bytes),
            congestion_control=self.algorithm,
            ecn=self.has_ecn or None,
        )

    def _retransmitted(self) -> float:
        in_all = self.last.get("retrans", (0.0, None))[1]
        return in_all or 0.0

    def _reordering(self) -> tuple[Reordering, ...]:
        packets = int(_value(self.last, "data_segs_out"))
        late = int(_value(self.last, "reord_seen"))
        return (Reordering(packets, late, np.empty(0), "forward"),) if packets and late else ()


class _Samples:
    """The connections in a file, line by line."""

    def __init__(self) -> None:
        self.connections: dict[str, _Connection] = {}
        self.samples = 0
        self.name = ""
        self.at_s = _NEVER

    @property
    def is_full(self) -> bool:
        return self.samples == _MAX_SAMPLES

    def take(self, line: str) -> bool:
        """Returns False if the line is not from ss."""
        if (found := _SOCKET.match(line)) is not None:
            self.name = f"{found[1]} → {found[2]}"
            line = found[3] or ""
            if not _INFO.search(line):
                return True
        if _INFO.search(line):
            self._info(line)
            return True
        if (at_s := dates.seconds(line)) is not None:
            self.at_s = at_s
            return True
        return _is_remark(line)

    def _info(self, line: str) -> None:
        fields = {
            name: (float(first), float(second) if second else None)
            for name, first, second in _FIELD.findall(line)
        }
        connection = self.connections.get(self.name)
        if connection is not None and _bytes_acked(fields) < connection.acked[-1]:
            # The port was reused.
            self.connections[f"{self.name} ({len(self.connections)})"] = connection
            connection = None
        if connection is None:
            if len(self.connections) >= _MAX_CONNECTIONS:
                return
            connection = self.connections[self.name] = _Connection(self.name)
        if not self.is_full:
            self.samples += 1
            connection.take(self.at_s, line, fields)


def _bytes_acked(fields: dict[str, tuple[float, float | None]]) -> float:
    return _value(fields, "bytes_acked") or _value(fields, "bytes_sent")


def _value(fields: dict[str, tuple[float, float | None]], name: str) -> float:
    """ss omits zeros."""
    return fields[name][0] if name in fields else 0.0


READER = Reader("ss", "samples of `while sleep 1; do date +%s.%N; ss -tin dst HOST; done`", recognises, read)
