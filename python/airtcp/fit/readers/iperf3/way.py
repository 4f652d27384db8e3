"""The data of one direction in a result of iperf3, interval by interval."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field

from airtcp.fit.json_values import Json, number

_MAX_INTERVALS = 1 << 20


@dataclass
class Way:
    """The data of one direction."""

    time_s: array[float] = field(default_factory=lambda: array("d"))
    interval_s: array[float] = field(default_factory=lambda: array("d"))
    rate_bps: array[float] = field(default_factory=lambda: array("d"))
    rtt_s: array[float] = field(default_factory=lambda: array("d"))
    """NaN: unknown; so in all below."""
    cwnd_bytes: array[float] = field(default_factory=lambda: array("d"))
    resent: array[float] = field(default_factory=lambda: array("d"))
    sent_packets: array[float] = field(default_factory=lambda: array("d"))
    lost_packets: array[float] = field(default_factory=lambda: array("d"))
    retransmissions: int | None = None
    lost: int | None = None
    packets: int = 0
    impossible: int = 0
    """Intervals whose loss cannot be, and is left out."""

    def take(self, start_s: float, total: Json, streams: list[Json]) -> None:
        seconds, rate_bps = number(total, "seconds"), number(total, "bits_per_second")
        if not seconds or rate_bps is None or len(self.time_s) == _MAX_INTERVALS:
            return
        self.time_s.append(start_s)
        self.interval_s.append(seconds)
        self.rate_bps.append(rate_bps)
        self.rtt_s.append(_mean(streams, "rtt") / 1e6)
        self.cwnd_bytes.append(_mean(streams, "snd_cwnd"))
        self.resent.append(_or_nan(number(total, "retransmits")))
        self.sent_packets.append(_or_nan(number(total, "packets")))
        self.lost_packets.append(_or_nan(losses(total)))
        if (retransmits := number(total, "retransmits")) is not None:
            self.retransmissions = (self.retransmissions or 0) + int(retransmits)
        if (lost := losses(total)) is not None:
            self._count(int(lost), int(number(total, "packets") or 0))

    def _count(self, lost: int, packets: int) -> None:
        """Adds an interval's losses.

        A negative number takes back packets that came late and were counted as lost before: no more than
        these. With -O, some versions also take back what was lost before the first interval that counts.
        """
        if -(self.lost or 0) <= lost <= packets:
            self.lost = (self.lost or 0) + lost
            self.packets += packets
        else:
            self.impossible += 1


def added(streams: list[Json]) -> Json:
    """Returns what `sum` would contain."""
    if not streams:
        return {}
    total = dict(streams[0])
    for key in ("bytes", "bits_per_second", "retransmits", "lost_packets", "packets"):
        least = -1e15 if key == "lost_packets" else 0.0
        numbers = [value for stream in streams if (value := number(stream, key, least=least)) is not None]
        if numbers:
            total[key] = sum(numbers)
    return total


def _mean(streams: list[Json], key: str) -> float:
    values = [value for stream in streams if (value := number(stream, key))]
    return sum(values) / len(values) if values else math.nan


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def losses(total: Json) -> float | None:
    """Returns the packets lost, which may be negative in an interval."""
    return number(total, "lost_packets", least=-1e15)
