"""Parses the output of `fping --json`: an object per line, for each answer, timeout, or host."""

from __future__ import annotations

import math

from airtcp.fit import dates
from airtcp.fit.json_values import Json, number, object_of
from airtcp.fit.readers.fping.host import LONGEST_MS, MAX_HOSTS, USUAL_IP_BYTES, Host

_IPV4_BYTES = 20


def take_object(entry: Json, hosts: dict[str, Host]) -> int | None:
    """Returns how many probes the entry reports; None if it is not fping's."""
    for kind in ("resp", "timeout", "vSum", "summary", "intSum"):
        part = object_of(entry, kind)
        name = part.get("host")
        if not isinstance(name, str):
            continue
        if name not in hosts and len(hosts) == MAX_HOSTS:
            return 0
        return _TAKES[kind](part, hosts.setdefault(name, Host()))
    return 0 if "stats" in entry or "globalSum" in entry else None


def _response(part: Json, host: Host) -> int | None:
    sequence, rtt_ms = number(part, "seq", most=1e9), number(part, "rtt", most=LONGEST_MS)
    if sequence is None or rtt_ms is None:
        return None
    stamp = part.get("timestamp")
    at_s = dates.seconds(str(stamp).strip("[] ")) if isinstance(stamp, str | int | float) else None
    size = number(part, "size", least=8, most=65535)
    ip_bytes = USUAL_IP_BYTES if size is None else size + _IPV4_BYTES
    host.take(int(sequence), math.nan if at_s is None else at_s, ip_bytes, rtt_ms / 1e3)
    return 1


def _timeout(part: Json, host: Host) -> int | None:
    sequence = number(part, "seq", most=1e9)
    if sequence is None:
        return None
    host.take(int(sequence), math.nan, USUAL_IP_BYTES, math.nan)
    return 1


def _values(part: Json, host: Host) -> int | None:
    values = part.get("values")
    if not isinstance(values, list):
        return None
    for value in values:
        rtt_ms = number({"rtt": value}, "rtt", most=LONGEST_MS)
        host.in_order.append(math.nan if rtt_ms is None else rtt_ms)
    return len(values)


def _summary(part: Json, host: Host) -> int | None:
    return _sums(part, host.sums)


def _interval(part: Json, host: Host) -> int | None:
    return _sums(part, host.parts)


def _sums(part: Json, into: list[tuple[int, int, float, float]]) -> int | None:
    sent, received = number(part, "xmt", most=1e12), number(part, "rcv", most=1e12)
    if sent is None or received is None:
        return None
    least, mean = number(part, "rttMin", most=LONGEST_MS), number(part, "rttAvg", most=LONGEST_MS)
    if received and (least is None or mean is None):
        return None
    into.append((int(sent), int(min(received, sent)), (least or 0.0) / 1e3, (mean or 0.0) / 1e3))
    return 1


_TAKES = {"resp": _response, "timeout": _timeout, "vSum": _values, "summary": _summary, "intSum": _interval}
