"""Interprets names of columns and keys: `rtt_ms`, `Bandwidth (kbit/s)`, `downloadMbps`, `Alpha_rtt_ms`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from airtcp.fit.measurement import Direction
from airtcp.fit.units import ANY_RATE, Unit, rate_unit, time_unit


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


Kind = Literal["time", "duration", "rtt", "rate", "lost", "arrived"]

_NAMES: dict[Kind, str] = {
    "time": "time timestamp ts t epoch date datetime date_time when start start_time sent_at unix_time "
    "elapsed time_stamp datetimestamp day start_timestamp test_time log_time zeit zeitstempel datum uhrzeit "
    "fecha hora heure horodatage tijd tid dtime",
    "duration": "duration interval dt delta length",
    "rtt": "rtt ping latency delay round_trip round_trip_time roundtrip roundtrip_time response_time "
    "ping_time rtt_time ping_latency ping_rtt lat latenz latence latencia antwortzeit "
    "verzogerung",
    "rate": "bandwidth capacity throughput goodput rate bitrate bit_rate data_rate datarate speed download "
    "upload durchsatz bandbreite datenrate debit",
    "lost": "lost loss is_lost dropped drop timeout timed_out",
    "arrived": "received arrived ok success answered",
}
_KINDS: dict[str, Kind] = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_LONGEST_NAME = 3
_MINUTE_S = 60.0
_WAYS: dict[str, Direction] = {
    "d": "forward", "u": "reverse",
    "down": "forward", "downlink": "forward", "download": "forward", "dl": "forward", "forward": "forward",
    "downstream": "forward", "rx": "forward",
    "up": "reverse", "uplink": "reverse", "upload": "reverse", "ul": "reverse", "reverse": "reverse",
    "upstream": "reverse", "tx": "reverse",
}  # fmt: skip
_CAPACITY = ("bandwidth", "capacity", "bandbreite")
_STATISTICS = {
    "avg": "mean", "average": "mean", "mean": "mean", "median": "median", "med": "median", "p50": "median",
    "min": "least", "minimum": "least", "least": "least", "best": "least", "low": "least",
    "max": "greatest", "maximum": "greatest", "worst": "greatest", "high": "greatest", "peak": "greatest",
    "p90": "greatest", "p95": "greatest", "p99": "greatest",
}  # fmt: skip
_FILLERS = _set(
    "a of the in utc gmt local unix iso value measured current network link total tcp udp icmp http https "
    "test idle data"
)
_OTHER_THINGS = _set(
    "id name host type class reason status state count num number no ttl size bytes packets pkts seq code "
    "url ip address addr percent pct limit plan price index rank label category flag error errors std "
    "stdev stddev mdev dev deviation jitter var variance variation skew queue queueing queuing processing "
    "dns ttfb oneway one owd loss lost drop dropped fail failure sample frame refresh clock heart baud "
    "symbol interest hit zone vehicle moving wind gps car ground km kmh kph mph knots hz rpm"
)
"""Words beside a name that make it something else: `loss rate`, `moving speed`, `ping host`."""
_LOSSES = _set("loss losses lost drop drops dropped dropout plr")
_PERCENT = _set("percent percentage pct perc")
_SHARES = _set("rate ratio share fraction packet pkt")
_BESIDE_LOSSES = _PERCENT | _SHARES | _FILLERS | _set("ping pings pop probe probes avg average mean rtt")
"""Words beside a loss that leave it the share of packets which were lost."""
_OF_FRAMES = re.compile(r"\blink ?speed\b|\b[tr]x ?bit ?rate\b|\b(?:phy|mcs|nominal|advertised)\b")
"""The rate of a radio's frames, or a contract's, which no transfer gets."""
_CAN_STAND_FOR_ITSELF = _set(
    "rtt ping latency round_trip round_trip_time roundtrip throughput bandwidth goodput bitrate bit_rate"
)
"""Names that mean a quantity even without a unit and beside words that are unknown."""


@dataclass(frozen=True)
class Quantity:
    """What a column contains."""

    kind: Kind
    name: str
    """The name without unit and direction."""
    scale: float | None
    """Factor that converts to seconds or bit/s. None if the name has no unit, or one that may be several."""
    direction: Direction | None = None
    of: str = ""
    """Whose it is, by the words that mean nothing else: `Alpha` of `Alpha_rtt_ms`."""
    statistic: str = ""
    """`mean`, `median`, `least` or `greatest`, of several that were measured; empty for one."""
    meanings: tuple[str, ...] = ()
    """Units that it may have, as the ends of unambiguous names, if the unit matters and is unknown."""

    @property
    def is_capacity(self) -> bool:
        """Whether it is a link's capacity rather than a transfer's rate."""
        return self.name in _CAPACITY


def quantity(heading: str) -> Quantity | None:
    """Returns None if the name is unknown."""
    words = _words(heading[:80])
    if (loss := _loss_share(heading, words)) is not None:
        return loss
    if _OF_FRAMES.search(" ".join(words).lower()):
        return None
    writing = _Writing(heading, words)
    for start, stop in _places(words):
        name = "_".join(words[start:stop]).lower()
        kind = _KINDS[name]
        unit, rest = _unit(kind, words[stop:], writing)
        found = _quantity(kind, name, unit, [*words[:start], *rest])
        if found is not None:
            return found
    return _by_unit_alone(words, writing)


class _Writing:
    """What the capitals of a heading mean."""

    def __init__(self, heading: str, words: Sequence[str]) -> None:
        self.is_shouted = heading.isupper()
        self.is_capitalised = len(words) > 1 and (
            all(word[:1].isupper() for word in words) or re.search(r"[a-z][A-Z]", heading) is not None
        )

    def rate_unit(self, text: str) -> Unit | None:
        return rate_unit(text, is_shouted=self.is_shouted, is_capitalised=self.is_capitalised)


def _words(heading: str) -> list[str]:
    """Splits at everything but letters and digits, and between `aB`; `/s` stays with its unit."""
    plain = unicodedata.normalize("NFKD", heading.strip())
    heading = "".join(letter for letter in plain if not unicodedata.combining(letter)).replace("μ", "µ")
    text = re.sub(r"\s*/\s*s(?:ec(?:ond)?s?)?\b", "/s", heading, flags=re.IGNORECASE)
    text = re.sub(r"(?<=[a-z])(?=[A-Z][a-z]|[A-Z]{2})(?<![^A-Za-z]k)", " ", text)
    text = re.sub(r"/(?!s\b)", " ", text, flags=re.IGNORECASE)
    return [word for word in re.split(r"[^\w/µ]+|_+", text) if word]


def _places(words: Sequence[str]) -> list[tuple[int, int]]:
    """Returns where known names begin and end, those to be tried first: long ones, and ways last."""
    found = [
        (start, start + length)
        for length in range(min(_LONGEST_NAME, len(words)), 0, -1)
        for start in range(len(words) - length + 1)
        if "_".join(words[start : start + length]).lower() in _KINDS
    ]
    return sorted(found, key=lambda place: (words[place[0]].lower() in _WAYS, place[0] - place[1]))


def _unit(kind: Kind, words: list[str], writing: _Writing) -> tuple[Unit | None, list[str]]:
    """Returns the unit behind the name, or at the end of the heading, and the words that are left."""
    if kind in {"lost", "arrived"}:
        return None, words
    for length in range(len(words), 0, -1):
        for start in {0, len(words) - length}:
            text = "_".join(words[start : start + length])
            unit = writing.rate_unit(text) if kind == "rate" else _time_unit(kind, text)
            if unit is not None:
                return unit, [*words[:start], *words[start + length :]]
    return None, words


def _time_unit(kind: Kind, text: str) -> Unit | None:
    """Returns a unit of time; `rtt_min` is the least round trip, and none in minutes."""
    unit = time_unit(text)
    is_long = unit is not None and unit.scale is not None and unit.scale >= _MINUTE_S
    return None if kind == "rtt" and is_long else unit


def _quantity(kind: Kind, name: str, unit: Unit | None, rest: list[str]) -> Quantity | None:
    """Returns the quantity, if the words beside its name leave it what it is."""
    low = [word.lower() for word in rest]
    if name == "lat" and unit is None:
        # A latitude.
        return None
    if any(word in _OTHER_THINGS for word in low):
        return None
    ways = [_WAYS[word] for word in low if word in _WAYS]
    if name in _WAYS:
        ways.append(_WAYS[name])
    statistics = [_STATISTICS[word] for word in low if word in _STATISTICS]
    known = (*_WAYS, *_STATISTICS, *_FILLERS)
    of = " ".join(word for word, each in zip(rest, low, strict=True) if each not in known)
    if kind not in {"rtt", "rate"}:
        return None if of or ways else Quantity(kind, name, _scale(kind, unit))
    if of and unit is None and name not in _CAN_STAND_FOR_ITSELF:
        return None
    unknown = ANY_RATE if unit is None and kind == "rate" else unit
    return Quantity(
        kind,
        name,
        _scale(kind, unit),
        ways[0] if ways else None,
        of,
        statistics[0] if statistics else "",
        unknown.meanings if unknown else (),
    )


def _scale(kind: Kind, unit: Unit | None) -> float | None:
    return 1.0 if kind in {"lost", "arrived"} else unit.scale if unit else None


def _loss_share(heading: str, words: list[str]) -> Quantity | None:
    """Returns `pop_ping_drop_rate`, `packet_loss`, `Loss (%)`: a share of the packets that a row sums up."""
    low = [word.lower() for word in words]
    is_percent = "%" in heading or any(word in _PERCENT for word in low)
    beside = [word for word in low if word not in _LOSSES]
    is_share = is_percent or any(word in _SHARES for word in beside)
    if len(beside) == len(low) or not is_share or not _BESIDE_LOSSES.issuperset(beside):
        return None
    return Quantity("lost", "_".join(low), 0.01 if is_percent else 1.0)


def _by_unit_alone(words: list[str], writing: _Writing) -> Quantity | None:
    """Returns a rate that its unit alone tells: `Mbps`, `down_mbps`, `Alpha (Mbit/s)`."""
    for length in range(1, len(words) + 1):
        unit = writing.rate_unit("_".join(words[-length:]))
        if unit is not None and "s" in "_".join(words[-length:]).lower():
            return _quantity("rate", "rate", unit, words[:-length])
    return None
