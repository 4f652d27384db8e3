"""The tests in a file of iperf3's: whole results, events of a stream, or what is left of a broken one."""

from __future__ import annotations

from dataclasses import dataclass, field

from airtcp.fit.json_values import Json, Repeated, number, object_of, objects_of
from airtcp.fit.measurement import Direction
from airtcp.fit.readers.iperf3.way import Way, added

_NEARLY = 0.9
_REVERSE = "_bidir_reverse"


@dataclass
class Test:
    """One run of iperf3."""

    start: Json = field(default_factory=dict)
    end: Json = field(default_factory=dict)
    forward: Way = field(default_factory=Way)
    reverse: Way = field(default_factory=Way)
    is_stopped: bool = False
    """It ended with an error, or was interrupted: the ends have not told each other what arrived."""

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
        """Returns a direction's total at the end, if it can be known."""
        suffix = _REVERSE if way == "reverse" else ""
        found = _total(self.end, key + suffix, self.is_server == (way == "reverse"))
        # A client that is stopped does not ask the server, and counts nothing in its place.
        is_guess = key == "sum_received" and self.is_stopped and not number(found, "bytes")
        return {} if is_guess else found

    @property
    def kind(self) -> tuple[object, ...]:
        """Tests of the same kind can be combined."""
        options = self.options
        return (
            options.get("protocol"),
            bool(options.get("reverse")),
            bool(self.reverse.time_s),
            None if self.is_udp else (self.connections, self.told_bps),
        )

    @property
    def told_bps(self) -> float | None:
        """The rate at which the sender was told to send, with -b or --fq-rate; None: as fast as it can."""
        told = [number(self.options, key) for key in ("target_bitrate", "fqrate")]
        return min((each for each in told if each), default=None)

    @property
    def is_held_back(self) -> bool:
        """Whether that rate, and not the path, was the limit."""
        way = self.forward
        if self.told_bps is None or not way.interval_s:
            return False
        bits = sum(bps * length_s for bps, length_s in zip(way.rate_bps, way.interval_s, strict=True))
        return bits >= _NEARLY * self.told_bps * self.connections * sum(way.interval_s)

    def way(self, way: Direction) -> Way:
        return self.reverse if way == "reverse" else self.forward


class Result:
    """The tests in a file."""

    def __init__(self) -> None:
        self.tests: list[Test] = []
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
        if self.error and self.tests:
            self.tests[-1].is_stopped = True

    def _start(self, start: Json) -> None:
        if self.tests and self.tests[-1].forward.time_s:
            self.begun_s = self.tests[-1].forward.time_s[-1] + self.tests[-1].forward.interval_s[-1]
        self.tests.append(Test(start))

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
