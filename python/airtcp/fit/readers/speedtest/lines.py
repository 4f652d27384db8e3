"""Results as text and as CSV: of Ookla's speedtest, and of speedtest-cli."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from airtcp.fit.measurement import Direction
from airtcp.fit.readers.speedtest.result import (
    USUAL_S,
    Loaded,
    SpeedTest,
    Way,
    percent_of,
    server_name,
    share,
)
from airtcp.fit.units import rate_unit

OOKLA = (
    "server name", "server id", "idle latency", "idle jitter", "packet loss", "download", "upload",
    "download bytes", "upload bytes", "share url", "download server count", "download latency",
    "download latency jitter", "download latency low", "download latency high", "upload latency",
    "upload latency jitter", "upload latency low", "upload latency high", "idle latency low",
    "idle latency high",
)  # fmt: skip
SPEEDTEST_CLI = (
    "server id", "sponsor", "server name", "timestamp", "distance", "ping", "download", "upload", "share",
    "ip address",
)  # fmt: skip
_WAYS: tuple[tuple[str, Direction], ...] = (("download", "forward"), ("upload", "reverse"))
_NUMBER = r"(\d{1,12}(?:[.,]\d{1,12})?)"
_RATE = re.compile(rf"\s*(Download|Upload)(?: rate)?\s*:\s*{_NUMBER}\s*([A-Za-z/]{{1,12}})")
_LATENCY = re.compile(rf"\s*(?:Idle )?(?:Latency|Ping)\s*:\s*{_NUMBER}\s*ms(.*)")
_HOSTED = re.compile(rf"Hosted by (.{{1,120}}) \[[^\]]{{1,20}}\]: {_NUMBER} ms")
_LOADED = re.compile(rf"\s*{_NUMBER}\s*ms\s*\(jitter:(.*)")
_LOSS = re.compile(r"\s*Packet Loss\s*:\s*(\d{1,3}(?:\.\d{1,12})?)\s*%")
_SERVER = re.compile(r"\s*Server\s*:\s*(.{1,200})")
_LOW = re.compile(rf"low:\s*{_NUMBER}\s*ms")
_HIGH = re.compile(rf"high:\s*{_NUMBER}\s*ms")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


class Lines:
    """Takes lines one by one."""

    def __init__(self) -> None:
        self.tests: list[SpeedTest] = []
        self._names: Sequence[str] | None = None
        self._way: Way | None = None

    def take(self, line: str) -> bool:
        """Returns whether the line is understood."""
        fields = split(line)
        if (names := heading(fields)) is not None:
            self._names = names
            return True
        names = self._names or (names_of(fields) if self._names is None else None)
        if names is not None and len(fields) > 5:
            test = _of_row(dict(zip(names, fields, strict=False)), is_ookla="sponsor" not in names)
            if test is not None:
                self.tests.append(test)
                return True
        return self._text(line)

    def _text(self, line: str) -> bool:
        if (server := _SERVER.match(line)) is not None:
            self._begin().server = server_name(server[1].strip())
        elif (hosted := _HOSTED.match(line)) is not None:
            test = self._begin()
            test.server, test.idle_s = server_name(hosted[1]), _ms(hosted[2])
        elif (latency := _LATENCY.match(line)) is not None:
            low = _LOW.search(latency[2])
            test = self._current() if not self._current().ways else self._begin()
            test.idle_s, test.least_s = _ms(latency[1]), _ms(low[1]) if low else None
        elif (rate := _RATE.match(line)) is not None:
            return self._rate(rate[1].lower(), rate[2], rate[3])
        elif (loss := _LOSS.match(line)) is not None:
            test = self._current()
            test.says_no_loss = float(loss[1]) == 0
            test.loss = share(float(loss[1]), loss[1]) if 0 < float(loss[1]) < 100 else None
        elif (loaded := _LOADED.match(line)) is not None and self._way is not None:
            low, high = _LOW.search(loaded[2]), _HIGH.search(loaded[2])
            self._way.loaded = Loaded(
                _ms(loaded[1]), _ms(low[1]) if low else None, _ms(high[1]) if high else None
            )
        else:
            return False
        return True

    def _rate(self, name: str, value: str, unit_name: str) -> bool:
        unit = rate_unit(unit_name)
        if unit is None or unit.scale is None:
            return False
        self._way = Way([(USUAL_S, float(value.replace(",", ".")) * unit.scale)])
        direction = dict(_WAYS)[name]
        test = self._current() if direction not in self._current().ways else self._begin()
        test.ways[direction] = self._way
        return True

    def _begin(self) -> SpeedTest:
        self.tests.append(SpeedTest("text"))
        return self.tests[-1]

    def _current(self) -> SpeedTest:
        return self.tests[-1] if self.tests else self._begin()


def is_text(line: str) -> bool:
    """Whether a speed test prints such a line, and hardly another program."""
    found = _RATE.match(line)
    return found is not None and rate_unit(found[3]) is not None


def split(line: str) -> list[str]:
    separator = "\t" if "\t" in line else ";" if line.count(";") > line.count(",") else ","
    try:
        return [field.strip() for field in next(csv.reader((line,), delimiter=separator))]
    except (csv.Error, StopIteration):
        return []


def heading(fields: Sequence[str]) -> Sequence[str] | None:
    """Returns the names of the columns, if the line is one of the two programs' headings."""
    names = [field.lower() for field in fields]
    is_ookla = {"server id", "packet loss", "download", "download bytes"} <= set(names)
    is_cli = {"server id", "sponsor", "distance", "download"} <= set(names)
    if is_ookla:
        old = {"latency": "idle latency", "jitter": "idle jitter"}
        return [old.get(name, name) for name in names]
    return names if is_cli else None


def names_of(fields: Sequence[str]) -> Sequence[str] | None:
    """Returns the names of a row's columns, which both programs leave out unless they are asked."""
    if len(fields) == len(SPEEDTEST_CLI) and _TIMESTAMP.match(fields[3]) and _is_number(*fields[4:8]):
        return SPEEDTEST_CLI
    is_url = len(fields) >= 10 and "speedtest.net/result" in fields[9]
    return OOKLA if is_url and _is_number(fields[2], *fields[5:9]) else None


def _of_row(row: dict[str, str], *, is_ookla: bool) -> SpeedTest | None:
    """Reads a row: Ookla's rates are in bytes/s, speedtest-cli's in bit/s."""
    name = row.get("server name", "")
    test = SpeedTest(
        "Ookla" if is_ookla else "speedtest-cli",
        server_name(name) if is_ookla else server_name(row.get("sponsor"), name),
        _given_ms(row, "idle latency" if is_ookla else "ping"),
        _given_ms(row, "idle latency low"),
    )
    for way, direction in _WAYS:
        if not _is_number(row.get(way, "")) or float(row[way]) <= 0:
            continue
        middle_s = _given_ms(row, f"{way} latency")
        loaded = None
        if middle_s is not None:
            loaded = Loaded(
                middle_s, _given_ms(row, f"{way} latency low"), _given_ms(row, f"{way} latency high")
            )
        test.ways[direction] = Way([(USUAL_S, float(row[way]) * (8 if is_ookla else 1))], loaded)
    if _is_number(loss := row.get("packet loss", "")):
        test.says_no_loss = float(loss) == 0
        test.loss = percent_of(float(loss))
    return test if test.ways else None


def _given_ms(row: dict[str, str], name: str) -> float | None:
    value = row.get(name, "")
    return _ms(value) if _is_number(value) and float(value) > 0 else None


def _ms(text: str) -> float:
    return float(text.replace(",", ".")) / 1e3


def _is_number(*texts: str) -> bool:
    return all(re.fullmatch(r"\d{1,14}(?:\.\d{1,20})?", text) for text in texts)
