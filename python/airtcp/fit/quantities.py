"""Interprets names of columns and keys: `rtt_ms`, `Bandwidth (kbit/s)`, `duration_s`, `download_mbps`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from airtcp.fit.measurement import Direction

Kind = Literal["time", "duration", "rtt", "rate", "lost", "arrived"]
Units = dict[str, float | None]

_TIMES_S: Units = {
    "": None, "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0,
    "ms": 1e-3, "msec": 1e-3, "millis": 1e-3, "milliseconds": 1e-3,
    "us": 1e-6, "usec": 1e-6, "µs": 1e-6, "micros": 1e-6, "microseconds": 1e-6, "ns": 1e-9,
}  # fmt: skip
_RATES_BPS: Units = {
    "": None, "bps": 1.0, "bit_s": 1.0, "bits_s": 1.0, "bits_per_second": 1.0,
    "kbps": 1e3, "kbit_s": 1e3, "kbits_s": 1e3, "kb_s": 1e3, "kbit": 1e3,
    "mbps": 1e6, "mbit_s": 1e6, "mbits_s": 1e6, "mb_s": 1e6, "mbit": 1e6,
    "gbps": 1e9, "gbit_s": 1e9, "gbits_s": 1e9,
}  # fmt: skip
_FLAGS: Units = {"": 1.0}
_UNITS: dict[Kind, Units] = {
    "time": _TIMES_S,
    "duration": _TIMES_S,
    "rtt": _TIMES_S,
    "rate": _RATES_BPS,
    "lost": _FLAGS,
    "arrived": _FLAGS,
}
_NAMES: dict[Kind, str] = {
    "time": "time timestamp ts t epoch date datetime when start start_time sent_at unix_time elapsed",
    "duration": "duration interval dt delta length",
    "rtt": "rtt ping latency delay round_trip round_trip_time roundtrip response_time ping_time",
    "rate": "bandwidth capacity throughput goodput rate bitrate bit_rate speed download upload",
    "lost": "lost loss is_lost dropped drop timeout timed_out",
    "arrived": "received arrived ok success answered",
}
_KINDS: dict[str, Kind] = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_WAYS: dict[str, Direction] = {
    "down": "forward", "downlink": "forward", "download": "forward", "dl": "forward", "forward": "forward",
    "up": "reverse", "uplink": "reverse", "upload": "reverse", "ul": "reverse", "reverse": "reverse",
}  # fmt: skip
_CAPACITY = ("bandwidth", "capacity")


@dataclass(frozen=True)
class Quantity:
    """What a column contains."""

    kind: Kind
    name: str
    """The name without unit and direction."""
    scale: float | None
    """Factor that converts to seconds or bit/s. None if the name has no unit."""
    direction: Direction | None = None

    @property
    def is_capacity(self) -> bool:
        """Whether it is a link's capacity rather than a transfer's rate."""
        return self.name in _CAPACITY


def quantity(heading: str) -> Quantity | None:
    """Returns None if the name is unknown."""
    words = re.sub(r"[^0-9a-zµ]+", "_", heading[:80].strip().lower().replace("μ", "µ")).strip("_")
    if words == "bits_per_second":
        return Quantity("rate", words, 1.0)
    first, _, after = words.partition("_")
    before, _, last = words.rpartition("_")
    if first in _WAYS and (found := _split(after)):
        return Quantity(*found, _WAYS[first])
    if last in _WAYS and (found := _split(before)):
        return Quantity(*found, _WAYS[last])
    if first in _WAYS and _RATES_BPS.get(after):
        # `down_mbps` is a rate by its unit alone.
        return Quantity("rate", first, _RATES_BPS[after], _WAYS[first])
    return Quantity(*found) if (found := _split(words)) else None


def _split(words: str) -> tuple[Kind, str, float | None] | None:
    """Returns kind, name and unit factor of the longest matching name."""
    parts = words.split("_")
    for length in range(len(parts), 0, -1):
        name, unit = "_".join(parts[:length]), "_".join(parts[length:])
        if (kind := _KINDS.get(name)) and unit in _UNITS[kind]:
            return kind, name, _UNITS[kind][unit]
    return None
