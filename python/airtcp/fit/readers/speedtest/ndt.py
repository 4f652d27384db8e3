"""Results of M-Lab's NDT: what ndt7 clients print, their summaries, and what servers archive (ndt7, ndt5).

Times in `AppInfo`, `TCPInfo` and `BBRInfo` are in µs and amounts in bytes; `Value` has its `Unit` beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from airtcp.fit.json_values import Json, number, object_of, objects_of
from airtcp.fit.measurement import Direction, Transfer
from airtcp.fit.readers.speedtest.result import (
    USUAL_S,
    Loaded,
    SpeedTest,
    Way,
    percent_of,
    server_name,
)
from airtcp.fit.units import rate_unit, time_unit

_WAYS: dict[str, Direction] = {"download": "forward", "upload": "reverse"}
_PARTS: tuple[tuple[str, Direction], ...] = (("Download", "forward"), ("Upload", "reverse"))
_OLD_PARTS: tuple[tuple[str, Direction], ...] = (("S2C", "forward"), ("C2S", "reverse"))
_KEYS = {"connected", "starting", "measurement", "complete", "error"}
_LONGEST_US = 1e10
_MOST_BYTES = 1e15
_MSS = 1448.0


@dataclass
class _Progress:
    """The amounts that were reported over time, of one direction."""

    received: list[tuple[float, float]] = field(default_factory=list)
    """Seconds and bytes, as the receiver counts them."""
    sent: list[tuple[float, float]] = field(default_factory=list)
    """As the sender counts them."""
    rtt_s: list[float] = field(default_factory=list)
    info: Json = field(default_factory=dict)
    """The last TCPInfo."""
    is_bbr: bool = False

    def way(self) -> Way | None:
        """Returns the rate between reports; the receiver knows best what arrived."""
        for reports in (self.received, self.sent):
            steps, at_s, amount = [], 0.0, 0.0
            for next_s, next_amount in reports:
                if next_s > at_s and next_amount >= amount:
                    steps.append((next_s - at_s, 8 * (next_amount - amount) / (next_s - at_s)))
                    at_s, amount = next_s, next_amount
            if steps:
                return Way(steps)
        return None


class Ndt:
    """Takes messages one by one."""

    def __init__(self) -> None:
        self.progress: dict[Direction, _Progress] = {}
        self.summary: SpeedTest | None = None
        self.server = ""

    def take(self, entry: Json) -> bool:
        """Returns whether the object is NDT's."""
        if entry.get("Key") in _KEYS:
            self._message(object_of(entry, "Value"))
            return True
        if "Origin" in entry and "Test" in entry:
            self._message(entry)
            return True
        return self._archived(entry) or self._summarised(entry)

    def result(self) -> SpeedTest | None:
        """Returns the test that the messages so far are of, and begins anew."""
        found = SpeedTest("NDT", self.server)
        for direction, progress in self.progress.items():
            if (way := progress.way()) is not None:
                found.ways[direction] = way
        down = self.progress.get("forward", _Progress())
        found.loaded_s = down.rtt_s
        if down.rtt_s and "forward" in found.ways:
            found.ways["forward"].loaded = Loaded(median(down.rtt_s), min(down.rtt_s), max(down.rtt_s))
        infos = [progress.info for progress in self.progress.values()]
        least = [us for info in infos if (us := number(info, "MinRTT", least=1.0, most=_LONGEST_US))]
        found.least_s = min(least) / 1e6 if least else None
        found.transfer = _transfer(down)
        self._complete(found)
        self.progress, self.summary, self.server = {}, None, ""
        return found if found.ways or found.least_s is not None else None

    def _complete(self, found: SpeedTest) -> None:
        """Adds what only the summary has."""
        if self.summary is None:
            return
        for direction, way in self.summary.ways.items():
            found.ways.setdefault(direction, way)
        found.least_s = found.least_s or self.summary.least_s
        found.loss = self.summary.loss
        found.server = self.summary.server or found.server

    def _message(self, value: Json) -> None:
        direction = _WAYS.get(str(value.get("Test")).lower())
        if direction is not None:
            _report(self.progress.setdefault(direction, _Progress()), direction, value)
        self.server = self.server or server_name(value.get("Server"))

    def _archived(self, entry: Json) -> bool:
        """Takes a file as the servers keep them."""
        is_any = False
        for name, direction in _PARTS:
            part = object_of(entry, name)
            if "ServerMeasurements" not in part and "ClientMeasurements" not in part:
                continue
            progress = self.progress.setdefault(direction, _Progress())
            for origin in ("Client", "Server"):
                for each in objects_of(part, f"{origin}Measurements"):
                    _report(progress, direction, {**each, "Origin": origin.lower()})
            is_any = True
        for name, direction in _OLD_PARTS:
            part = object_of(entry, name)
            rate = number(part, "MeanThroughputMbps", most=1e7)
            if rate is not None:
                is_any = True
                test = self._of_summary()
                test.ways[direction] = Way([(USUAL_S, rate * 1e6)])
                least_ns = number(part, "MinRTT", least=1.0, most=1e13)
                test.least_s = test.least_s or (least_ns / 1e9 if least_ns else None)
        row = object_of(entry, "a") or entry
        rate = _value(row, "MeanThroughputMbps")
        if rate:
            # A row of M-Lab's unified views, whose queries mostly are of downloads.
            is_any = True
            test = self._of_summary()
            test.ways["forward"] = Way([(USUAL_S, rate * 1e6)])
            least_ms, resent = _value(row, "MinRTT"), _value(row, "LossRate")
            test.least_s = least_ms / 1e3 if least_ms else None
            test.loss = percent_of(100 * resent) if resent else None
        if is_any:
            self.server = self.server or server_name(entry.get("ServerIP"))
        return is_any

    def _summarised(self, entry: Json) -> bool:
        """Takes the summary that clients print at the end; older ones have no object for each direction."""
        ways = {name: object_of(entry, name) for name in ("Download", "Upload")}
        rates = {
            direction: rate
            for name, direction in _PARTS
            if (rate := _rate(object_of(ways[name], "Throughput") or ways[name])) is not None
        }
        if not rates:
            return False
        test = self._of_summary()
        for direction, rate in rates.items():
            test.ways[direction] = Way([(USUAL_S, rate)])
        latency = object_of(ways["Download"], "Latency") or object_of(entry, "MinRTT")
        unit, value = time_unit(str(latency.get("Unit"))), number(latency, "Value", most=1e8)
        if unit is not None and unit.scale is not None and value:
            test.least_s = value * unit.scale
        test.server = server_name(entry.get("ServerFQDN") or entry.get("ServerIP"))
        return True

    def _of_summary(self) -> SpeedTest:
        self.summary = self.summary or SpeedTest("NDT")
        return self.summary


def _report(progress: _Progress, direction: Direction, value: Json) -> None:
    app, tcp = object_of(value, "AppInfo"), object_of(value, "TCPInfo")
    is_client = str(value.get("Origin")).lower() == "client"
    if (report := _amount(app, "NumBytes")) is not None:
        (progress.received if is_client == (direction == "forward") else progress.sent).append(report)
    if tcp:
        counted = _amount(tcp, "BytesAcked" if direction == "forward" else "BytesReceived")
        if counted is not None:
            (progress.sent if direction == "forward" else progress.received).append(counted)
        progress.info = tcp
        rtt_us = number(tcp, "RTT", least=1.0, most=_LONGEST_US)
        if rtt_us is not None:
            progress.rtt_s.append(rtt_us / 1e6)
    progress.is_bbr = progress.is_bbr or bool(object_of(value, "BBRInfo"))


def _amount(part: Json, key: str) -> tuple[float, float] | None:
    elapsed_us = number(part, "ElapsedTime", least=1.0, most=_LONGEST_US)
    amount = number(part, key, most=_MOST_BYTES)
    return None if elapsed_us is None or amount is None else (elapsed_us / 1e6, amount)


def _transfer(down: _Progress) -> Transfer | None:
    sent, again = (
        number(down.info, "BytesSent", most=_MOST_BYTES),
        number(down.info, "BytesRetrans", most=_MOST_BYTES),
    )
    if not sent or again is None or again > sent:
        return None
    mss = number(down.info, "SndMSS", least=100, most=65535) or _MSS
    return Transfer(
        data_packets=max(1, round((sent - again) / mss)),
        retransmissions=round(again / mss),
        mss_bytes=int(mss),
        congestion_control="bbr" if down.is_bbr else None,
    )


def _value(row: Json, key: str) -> float | None:
    """Returns a number, which BigQuery's own tool writes as a string."""
    value = row.get(key)
    if isinstance(value, str):
        try:
            row = {key: float(value)}
        except ValueError:
            return None
    return number(row, key, most=1e7)


def _rate(part: Json) -> float | None:
    unit, value = rate_unit(str(part.get("Unit"))), number(part, "Value", most=1e13)
    return value * unit.scale if value and unit is not None and unit.scale is not None else None
