"""Parses the lines that fping prints for people: `HOST : [N], 64 bytes, 20.1 ms (20.3 avg, 0% loss)`."""

from __future__ import annotations

import math
import re

from airtcp.fit import dates
from airtcp.fit.readers.fping.host import LONGEST_MS, MAX_HOSTS, USUAL_IP_BYTES, Host

_LINE = re.compile(r"(?:\[([^\]]{1,40})\] )?(\S{1,255})(?: \(\S{1,255}\))? {1,255}: (.{1,1900})$")
_ANSWER = re.compile(r"\[(\d{1,9})\], (\d{1,5}) bytes, (\d{1,9}(?:\.\d{1,9})?) ms\b")
_TIMEOUT = re.compile(r"\[(\d{1,9})\], timed out\b")
_DUPLICATE = re.compile(r"duplicate for \[\d{1,9}\]")
_SUMS = re.compile(
    r"xmt/rcv/%(?:loss|return) = (\d{1,12})/(\d{1,12})/[\d.]{1,12}%"
    r"(?:, outage\(ms\) = \d{1,12})?(?:, min/avg/max = (\d[\d.]{0,15})/(\d[\d.]{0,15})/\d)?"
)
_LIST = re.compile(r"(?:(?:-|\d{1,9}(?:\.\d{1,9})?)(?: |$)){1,900}$")
_REMARK = re.compile(
    r"ICMP .{1,60} from |\[\d\d:\d\d:\d\d\]|"
    r"[\d.]{1,12} (?:targets|alive|unreachable|unknown addr|timeouts|ICMP Echo|other ICMP|ms \(|sec \()"
)
# Before 5.0, of the whole IP packet; since then without the IP header.
_OLD_BYTES = 84.0


def is_line(line: str) -> bool:
    """Whether fping prints such lines, and no other program does."""
    if (found := _LINE.match(line)) is None:
        return _REMARK.match(line) is not None
    return any(form.match(found[3]) for form in (_ANSWER, _TIMEOUT, _DUPLICATE, _SUMS, _LIST))


def take_line(line: str, hosts: dict[str, Host]) -> int | None:
    """Returns how many probes the line reports; None if it is not fping's."""
    if not is_line(line):
        return None
    if (found := _LINE.match(line)) is None:
        return 0
    date, name, said = found.groups()
    if name not in hosts and len(hosts) == MAX_HOSTS:
        return 0
    return _take(said, date, hosts.setdefault(name, Host()), 40.0 if ":" in name else 20.0)


def _take(said: str, date: str | None, host: Host, header_bytes: float) -> int | None:
    if (answer := _ANSWER.match(said)) is not None:
        return _answer(answer, date, host, header_bytes)
    if (timeout := _TIMEOUT.match(said)) is not None:
        host.take(int(timeout[1]), math.nan, USUAL_IP_BYTES, math.nan)
        return 1
    if (sums := _SUMS.match(said)) is not None:
        return _sums(sums, host)
    return 0 if _DUPLICATE.match(said) else _list(said, host)


def _answer(answer: re.Match[str], date: str | None, host: Host, header_bytes: float) -> int | None:
    size, rtt_ms = float(answer[2]), float(answer[3])
    if rtt_ms > LONGEST_MS:
        return None
    at_s = dates.seconds(date) if date else None
    ip_bytes = size if size == _OLD_BYTES else size + header_bytes
    host.take(int(answer[1]), math.nan if at_s is None else at_s, ip_bytes, rtt_ms / 1e3)
    return 1


def _sums(sums: re.Match[str], host: Host) -> int | None:
    sent, received = int(sums[1]), int(sums[2])
    try:
        least, mean = float(sums[3] or 0), float(sums[4] or 0)
    except ValueError:
        return None
    received = min(received, sent) if mean else 0
    if max(least, mean) > LONGEST_MS:
        return None
    host.sums.append((sent, received, least / 1e3, mean / 1e3))
    return 0


def _list(said: str, host: Host) -> int:
    values = said.split()
    host.in_order.extend(math.nan if value == "-" else min(float(value), LONGEST_MS) for value in values)
    return len(values)
