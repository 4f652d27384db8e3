"""Reads Flent's data files (`.flent`, `.flent.gz`): pings while TCP streams fill the path, and the streams'
rates."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from airtcp.fit.json_objects import decoder_for
from airtcp.fit.json_values import Json, number, object_of, objects_of
from airtcp.fit.measurement import Direction, Floats, Measurement, RoundTrips, Subjects, Throughput
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS, finite
from airtcp.fit.text import Skips, TextFile, shown

_LARGEST = 1 << 26
"""In characters; ten times the longest of Flent's own tests."""
_PAYLOAD_SHARE = 1448 / 1500
"""Share of a full IP packet that is payload."""
_USUAL_STEP_S = 0.2
_PART_S = 5.0
"""Each stream reports at times of its own, and Flent interpolates: sums over less exceed the link's rate."""
_USUAL_BYTES = 84.0
_LONGEST_MS = 1e8

_STREAM = re.compile(r"TCP (upload|download)(?:$| |::)")
_DERIVED = re.compile(r"TCP \w+ (?:sum|avg|fairness)$|.*::\D")
"""What Flent computes of the streams, and what it samples of their sockets."""
_SUMS = ("TCP upload sum", "TCP download sum", "TCP totals")
_PING = re.compile(r"Ping \(ms\)(?:$| |::)")
_PING_OF_HOST = re.compile(r"Ping \(ms\) ICMP\d* (\S.{0,254})$")
_NAMED = 4

Way = Literal["upload", "download"]
_WAYS: dict[Way, Direction] = {"upload": "forward", "download": "reverse"}


def recognises(head: bytes) -> float:
    if not head.lstrip().startswith(b"{"):
        return 0.0
    if b'"FLENT_VERSION"' in head or b'"flent' in head or b'"NETPERF_WRAPPER_VERSION"' in head:
        return 0.98
    return 0.96 if b'"x_values"' in head and b'"results"' in head and b'"metadata"' in head else 0.0


def read(path: Path) -> Measurement | Subjects:
    text = TextFile(path, Skips("data of Flent"))
    document = _document(path, text)
    results, raw = object_of(document, "results"), object_of(document, "raw_values")
    steps = _numbers(document.get("x_values"))
    throughput = tuple(
        found for way in _WAYS if (found := _throughput(results, steps, way, _step_s(document))) is not None
    )
    other_loads = _other_loads(results, throughput)
    paths = {
        host: _measurement(path, text, throughput, other_loads, _pings(names, results, raw, steps))
        for host, names in _hosts({**results, **raw}).items()
    }
    of = {host: path for host, path in paths.items() if path.round_trips is not None or path.throughput}
    if not of:
        raise FileError(f"{path}: neither a ping nor a TCP stream is in it")
    more = _more_notes(document, results, throughput)
    of = {host: replace(path, notes=(*path.notes, *more)) for host, path in of.items()}
    if len(of) > 1:
        return Subjects("hosts", of, why=_why_several(of, throughput))
    return next(iter(of.values()))


def _hosts(series: Iterable[str]) -> dict[str, list[str]]:
    """Returns the pings to each host; all of them are to one whose name they do not tell."""
    pings = sorted((name for name in series if _PING.match(name)), key=_preferred)
    hosts: dict[str, list[str]] = {}
    for name in pings:
        if (found := _PING_OF_HOST.match(name)) is not None:
            hosts.setdefault(found[1], []).append(name)
    return hosts if len(hosts) > 1 else {"": pings}


def _why_several(hosts: Iterable[str], throughput: tuple[Throughput, ...]) -> str:
    rates = [f"{float(each.rate_bps.max()) / 1e6:.3g} Mbit/s" for each in throughput if each.rate_bps.any()]
    shared = f"; they share the link, over which all streams together reached {' and '.join(rates)}"
    return f"pings to {len(list(hosts))} hosts are in one file{shared if rates else ''}"


def _more_notes(document: Json, results: Json, throughput: tuple[Throughput, ...]) -> list[str]:
    notes = []
    hosts = object_of(document, "metadata").get("HOSTS")
    several = {host for host in hosts if isinstance(host, str)} if isinstance(hosts, list) else set()
    if len(several) > 1 and throughput:
        named = ", ".join(shown(host) for host in sorted(several)[:_NAMED])
        notes.append(
            f"The streams went to {len(several)} hosts ({named}); their sum is what the link carried."
        )
    left = [name for name in results if _is_left_out(name, throughput)]
    if left:
        more = ", …" if len(left) > _NAMED else ""
        named = ", ".join(f"`{shown(name)}`" for name in left[:_NAMED])
        notes.append(f"Series that are not used: {named}{more}.")
    return notes


def _other_loads(results: Json, throughput: tuple[Throughput, ...]) -> set[Direction]:
    """Returns the directions of streams whose rates are not used, such as UDP's."""
    filled = [name for name, values in results.items() if np.nansum(_numbers(values)) > 0]
    left = [name for name in filled if _is_left_out(name, throughput) and not _DERIVED.match(name)]
    return {direction for way, direction in _WAYS.items() if any(way in name for name in left)}


def _is_left_out(name: str, throughput: tuple[Throughput, ...]) -> bool:
    """Whether the series is none of the streams nor computed of them, nor a ping, of which one is named."""
    if name in _SUMS:
        return not throughput
    is_stream = _STREAM.match(name) is not None
    return not (_PING.match(name) or (is_stream and "::tcp_" not in name) or name.startswith("TCP totals"))


def _measurement(
    path: Path,
    text: TextFile,
    throughput: tuple[Throughput, ...],
    other_loads: set[Direction],
    pings: tuple[RoundTrips | None, str],
) -> Measurement:
    trips, name = pings
    if trips is not None and (throughput or other_loads):
        trips = replace(trips, least_s=float(trips.rtt_s.min()))
    loads = {each.direction for each in throughput if each.rate_bps.any()} | other_loads
    load: Direction | None = next(iter(loads)) if len(loads) == 1 else "both" if loads else None
    notes = [f"The pings are those of `{shown(name)}`."] if trips is not None else []
    if load is not None:
        notes.append("The pings were sent while the path was filled: only the least is the path's own.")
    return Measurement(
        source=path,
        format="Flent",
        round_trips=trips,
        throughput=throughput,
        load=load,
        notes=(*text.notes, *notes),
    )


def _document(path: Path, text: TextFile) -> Json:
    with text.open() as stream:
        content = text.more(stream, _LARGEST)
        if text.more(stream, 1):
            raise FileError(f"{path}: larger than any data file of Flent's ({_LARGEST >> 20} MB)")
    try:
        found = decoder_for(text).decode(content)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: the JSON of Flent's data file breaks off or is broken: {error}") from error
    if not isinstance(found, dict):
        raise FileError(f"{path}: no data file of Flent's")
    return found


def _step_s(document: Json) -> float:
    return number(object_of(document, "metadata"), "STEP_SIZE", least=1e-3, most=1e4) or _USUAL_STEP_S


def _throughput(results: Json, steps: Floats, way: Way, step_s: float) -> Throughput | None:
    """Sums the streams of one direction; Mbit/s."""
    names = [name for name in results if (found := _STREAM.match(name)) is not None and found[1] == way]
    streams = [_numbers(results[name])[: len(steps)] for name in names if not _DERIVED.match(name)]
    streams = [stream for stream in streams if len(stream) == len(steps) and np.isfinite(stream).any()]
    if not streams or not len(steps):
        return None
    total = np.nansum(streams, axis=0)
    known = np.isfinite(streams).any(axis=0) & np.isfinite(steps) & (total >= 0) & (total < 1e9)
    if not known.any():
        return None
    time_s = steps[known]
    order = np.argsort(time_s, kind="stable")
    rate_bps = total[known][order] * 1e6 / _PAYLOAD_SHARE
    parts = np.array_split(rate_bps, max(1, int(len(rate_bps) * step_s / _PART_S)))
    interval_s: Floats = np.array([len(part) for part in parts]) * step_s
    return Throughput(
        np.cumsum(interval_s) - interval_s,
        interval_s,
        np.array([part.mean() for part in parts]),
        _WAYS[way],
        is_capacity=False,
    )


def _pings(names: list[str], results: Json, raw: Json, steps: Floats) -> tuple[RoundTrips | None, str]:
    """Returns each ping if the file has them; otherwise Flent's interpolation at the steps."""
    for name in names:
        samples = [
            (at_s, value / 1e3)
            for each in objects_of(raw, name)[:MAX_ROWS]
            if (at_s := number(each, "t")) is not None
            and (value := number(each, "val", most=_LONGEST_MS)) is not None
        ]
        if not samples:
            values = _numbers(results.get(name))[: len(steps)]
            both = zip(steps.tolist(), values.tolist(), strict=False)
            samples = [
                (at_s, ms / 1e3) for at_s, ms in both if math.isfinite(at_s) and 0 <= ms <= _LONGEST_MS
            ]
        if samples:
            time_s, rtt_s = np.array(sorted(samples)).T
            return RoundTrips(time_s - time_s[0], rtt_s, _USUAL_BYTES), name
    return None, ""


def _preferred(name: str) -> tuple[bool, bool, str]:
    return "ICMP" not in name, "avg" in name, name


def _numbers(values: object) -> Floats:
    if not isinstance(values, list):
        return np.empty(0)
    found = [
        finite(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
        for value in values[:MAX_ROWS]
    ]
    return np.array([math.nan if value is None else value for value in found], dtype=np.float64)


READER = Reader("flent", "a data file of Flent's, `.flent` or `.flent.gz`", recognises, read)
