"""Reads Flent's data files (`.flent`, `.flent.gz`): pings while TCP streams fill the path, and the streams'
rates."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from airtcp.fit.json_objects import decoder_for
from airtcp.fit.json_values import Json, number, object_of, objects_of
from airtcp.fit.measurement import Direction, Floats, Measurement, RoundTrips, Throughput
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import MAX_ROWS, finite
from airtcp.fit.text import Skips, TextFile

_LARGEST = 1 << 26
"""In characters; ten times the longest of Flent's own tests."""
_PAYLOAD_SHARE = 1448 / 1500
"""Share of a full IP packet that is payload."""
_USUAL_STEP_S = 0.2
_USUAL_BYTES = 84.0
_LONGEST_MS = 1e8

Way = Literal["upload", "download"]
_WAYS: dict[Way, Direction] = {"upload": "forward", "download": "reverse"}


def recognises(head: bytes) -> float:
    if not head.lstrip().startswith(b"{"):
        return 0.0
    if b'"FLENT_VERSION"' in head or b'"flent' in head or b'"NETPERF_WRAPPER_VERSION"' in head:
        return 0.98
    return 0.96 if b'"x_values"' in head and b'"results"' in head and b'"metadata"' in head else 0.0


def read(path: Path) -> Measurement:
    text = TextFile(path, Skips("data of Flent"))
    document = _document(path, text)
    results, raw = object_of(document, "results"), object_of(document, "raw_values")
    steps = _numbers(document.get("x_values"))
    throughput = tuple(
        found for way in _WAYS if (found := _throughput(results, steps, way, _step_s(document))) is not None
    )
    pings, name = _pings(results, raw, steps)
    if pings is not None and throughput:
        pings = replace(pings, least_s=float(pings.rtt_s.min()))
    loads = [each.direction for each in throughput if each.rate_bps.any()]
    load: Direction | None = loads[0] if len(loads) == 1 else "both" if loads else None
    if pings is None and not throughput:
        raise FileError(f"{path}: neither a ping nor a TCP stream is in it")
    notes = [f"The pings are those of `{name}`."] if pings is not None else []
    if load is not None:
        notes.append("The pings were sent while the path was filled: only the least is the path's own.")
    return Measurement(
        source=path,
        format="Flent",
        round_trips=pings,
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
    streams = [
        _numbers(values)[: len(steps)]
        for name, values in results.items()
        if name.startswith("TCP ") and way in name and not any(word in name for word in ("sum", "avg", "::"))
    ]
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
    interval_s: Floats = np.full(len(time_s), step_s)
    return Throughput(time_s[order] - time_s.min(), interval_s, rate_bps, _WAYS[way], is_capacity=False)


def _pings(results: Json, raw: Json, steps: Floats) -> tuple[RoundTrips | None, str]:
    """Returns each ping if the file has them; otherwise Flent's interpolation at the steps."""
    names = sorted((name for name in {*results, *raw} if name.startswith("Ping")), key=_preferred)
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
