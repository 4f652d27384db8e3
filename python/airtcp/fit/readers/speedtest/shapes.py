"""Results as JSON: of Ookla's speedtest, speedtest-cli, LibreSpeed, Cloudflare's test and fast.com's.

Their units differ: Ookla's `bandwidth` is in bytes/s, speedtest-cli's and Cloudflare's rates are in bit/s,
those of LibreSpeed, fast.com and cfspeedtest in Mbit/s. All round trips are in ms.
"""

from __future__ import annotations

from airtcp.fit.json_values import Json, number, object_of, objects_of
from airtcp.fit.measurement import Direction
from airtcp.fit.readers.speedtest.result import USUAL_S, Loaded, SpeedTest, Way, percent_of, server_name
from airtcp.fit.units import rate_unit

_WAYS: dict[str, Direction] = {"download": "forward", "upload": "reverse"}
_LONGEST_MS = 1e8
_NO_LATENCY_MS = 1.8e6
"""What speedtest-cli writes where no server answered its ping: half an hour."""
_MOST_BPS = 1e13


def of(entry: Json) -> SpeedTest | None:
    """Returns a result; None if the object is of none of these programs."""
    for shape in (_ookla, _librespeed, _speedtest_cli, _cloudflare, _fast, _cfspeedtest):
        found = shape(entry)
        if found is not None and (found.ways or found.idle_s is not None):
            return found
    return None


def is_progress(entry: Json) -> bool:
    """Whether it is a line that Ookla's `-f jsonl` prints before the result."""
    return entry.get("type") in ("testStart", "ping", "download", "upload", "log") and "result" not in entry


def _ookla(entry: Json) -> SpeedTest | None:
    ways = {direction: object_of(entry, name) for name, direction in _WAYS.items()}
    if not any("bandwidth" in way for way in ways.values()) or is_progress(entry):
        return None
    ping, server = object_of(entry, "ping"), object_of(entry, "server")
    test = SpeedTest(
        "Ookla",
        server_name(server.get("name"), server.get("location"), server.get("host")),
        _seconds(ping, "latency"),
        _seconds(ping, "low"),
    )
    for direction, way in ways.items():
        rate = number(way, "bandwidth", most=_MOST_BPS)
        elapsed_ms = number(way, "elapsed", least=1.0, most=_LONGEST_MS)
        if rate is None:
            continue
        latency = object_of(way, "latency")
        middle_s = _seconds(latency, "iqm")
        loaded = (
            None
            if middle_s is None
            else Loaded(middle_s, _seconds(latency, "low"), _seconds(latency, "high"))
        )
        test.ways[direction] = Way([(elapsed_ms / 1e3 if elapsed_ms else USUAL_S, 8 * rate)], loaded)
    _take_loss(test, number(entry, "packetLoss", most=100))
    return test


def _librespeed(entry: Json) -> SpeedTest | None:
    server = object_of(entry, "server")
    if not {"bytes_sent", "ping", "jitter"} <= entry.keys() or "latency" in server or "sponsor" in server:
        return None
    name = server_name(server.get("name") or server.get("url"))
    return _simple(entry, SpeedTest("LibreSpeed", name, _seconds(entry, "ping")), 1e6)


def _speedtest_cli(entry: Json) -> SpeedTest | None:
    server = object_of(entry, "server")
    if "ping" not in entry or not ({"sponsor", "latency", "d"} & server.keys() or "bytes_sent" in entry):
        return None
    name = server_name(server.get("sponsor"), server.get("name"))
    return _simple(entry, SpeedTest("speedtest-cli", name, _seconds(entry, "ping")), 1.0)


def _cloudflare(entry: Json) -> SpeedTest | None:
    entry = object_of(entry, "summary") or entry
    if not {"downLoadedLatency", "upLoadedLatency", "downLoadedJitter"} & entry.keys():
        return None
    test = _simple(entry, SpeedTest("Cloudflare", "", _seconds(entry, "latency")), 1.0)
    for name, direction in _WAYS.items():
        middle_s = _seconds(entry, f"{name[:-4]}LoadedLatency")
        if direction in test.ways and middle_s is not None:
            test.ways[direction].loaded = Loaded(middle_s)
    loss = number(entry, "packetLoss", most=1)
    _take_loss(test, None if loss is None else 100 * loss)
    return test


def _fast(entry: Json) -> SpeedTest | None:
    if "downloadSpeed" not in entry:
        return None
    test = SpeedTest("fast.com", "", _seconds(entry, "latency"))
    loaded_s = _seconds(entry, "bufferBloat")
    for name, direction in _WAYS.items():
        unit = rate_unit(str(entry.get(f"{name}Unit", "Mbps")))
        rate = number(entry, f"{name}Speed", most=_MOST_BPS)
        if rate and unit is not None and unit.scale is not None:
            loaded = Loaded(loaded_s) if loaded_s is not None and direction == "forward" else None
            test.ways[direction] = Way([(USUAL_S, rate * unit.scale)], loaded)
    return test


def _cfspeedtest(entry: Json) -> SpeedTest | None:
    measured = objects_of(entry, "speed_measurements") or [entry]
    test = SpeedTest("Cloudflare")
    for each in measured:
        direction = _WAYS.get(str(each.get("test_type")).lower())
        rate = number(each, "median", most=1e7)
        if direction is None or "payload_size" not in each or rate is None:
            continue
        steps = test.ways.setdefault(direction, Way([])).steps
        steps.append((USUAL_S, rate * 1e6))
    latency = object_of(entry, "latency_measurement")
    test.idle_s = _seconds(latency, "avg_latency_ms")
    test.least_s = _seconds(latency, "min_latency_ms")
    return test


def _simple(entry: Json, test: SpeedTest, scale: float) -> SpeedTest:
    for name, direction in _WAYS.items():
        rate = number(entry, name, most=_MOST_BPS)
        if rate:
            test.ways[direction] = Way([(USUAL_S, rate * scale)])
    return test


def _take_loss(test: SpeedTest, percent: float | None) -> None:
    if percent is not None:
        test.loss = percent_of(percent)
        test.says_no_loss = percent == 0


def _seconds(part: Json, key: str) -> float | None:
    found = number(part, key, most=_LONGEST_MS)
    return found / 1e3 if found and found < _NO_LATENCY_MS else None
