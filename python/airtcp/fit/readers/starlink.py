"""Reads a Starlink dish's history as `grpcurl` and starlink-grpc-tools print it: JSON, a value per second.

The lists are rings: `current` counts the seconds since the dish started, and second n stands at
the place that is the remainder of n. Rates are usage, in bit/s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from airtcp.fit.json_objects import decoder_for
from airtcp.fit.json_values import Json, object_of
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.rows import Rows
from airtcp.fit.subjects import each
from airtcp.fit.text import Skips, TextFile

_LARGEST = 1 << 24
_COLUMNS = {
    "popPingDropRate": "pop_ping_drop_rate",
    "popPingLatencyMs": "pop_ping_latency_ms",
    "downlinkThroughputBps": "downlink_throughput_bps",
    "uplinkThroughputBps": "uplink_throughput_bps",
}
_LATENCY, _DROPS = "pop_ping_latency_ms", "pop_ping_drop_rate"


def recognises(head: bytes) -> float:
    if head.lstrip()[:1] not in (b"{", b"["):
        return 0.0
    names = [name.encode() for pair in _COLUMNS.items() for name in pair]
    has_lists = any(b'"' + name + b'": [' in head or b'"' + name + b'":[' in head for name in names)
    return 0.99 if has_lists or b'"dishGetHistory"' in head or b'"dish_get_history"' in head else 0.0


def read(path: Path) -> Measurement | Subjects:
    text = TextFile(path, Skips("history of a Starlink dish"))
    with text.open() as stream:
        content = text.more(stream, _LARGEST)
    try:
        found = decoder_for(text).decode(content)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: the JSON of the dish's history breaks off or is broken: {error}") from error
    history = _history(found)
    if history is None:
        raise FileError(f"{path}: no history of a dish: it has none of {', '.join(_COLUMNS)}")
    rows = Rows(path, ["time_s", *history])
    for second, values in enumerate(zip(*history.values(), strict=True)):
        rows.take([second, *values])
    notes = tuple(text.notes)
    return each(
        rows.measurement("history of a Starlink dish"),
        lambda measured: replace(measured, notes=(*measured.notes, *notes)),
    )


def _history(found: object) -> dict[str, list[object]] | None:
    """Returns the columns of equal length, the oldest value first."""
    document: Json = found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}
    document = found if isinstance(found, dict) else document
    for key in ("dishGetHistory", "dish_get_history", "history", "data"):
        document = object_of(document, key) or document
    lists = {
        name: values
        for name in _COLUMNS.values()
        if isinstance(values := document.get(name, document.get(_camel(name))), list) and values
    }
    if not lists:
        return None
    length = min(map(len, lists.values()))
    order = _order(document, length)
    columns = {name: [values[place] for place in order] for name, values in lists.items()}
    if _LATENCY in columns and _DROPS in columns:
        # Where every ping was lost, the round trip is an old one.
        columns[_LATENCY] = [
            None if lost == 1 else value
            for value, lost in zip(columns[_LATENCY], columns[_DROPS], strict=True)
        ]
    return columns


def _camel(name: str) -> str:
    return next(camel for camel, snake in _COLUMNS.items() if snake == name)


def _order(document: Mapping[str, object], length: int) -> list[int]:
    try:
        current = int(str(document.get("current", 0)))
    except ValueError:
        current = 0
    if current < length:
        return list(range(current or length))
    return [(current + place) % length for place in range(length)]


READER = Reader("starlink", "a Starlink dish's history (`get_history`) as JSON", recognises, read)
