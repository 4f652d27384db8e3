"""Parses the lines that `ping` prints: iputils (Linux), macOS and BSD, BusyBox, Windows, and hping.

Words differ between languages; numbers, `seq=`, `TTL=`, `ms` and punctuation do not. Patterns are tried only
on lines of bounded length, because foreign lines may contain anything.
"""

from __future__ import annotations

import re
from functools import lru_cache

from airtcp.fit import dates
from airtcp.fit.readers.ping.events import (
    Answer,
    Begin,
    Event,
    Remark,
    Statistics,
    System,
    Total,
    Unanswered,
)
from airtcp.fit.readers.ping.hping import hping_event

UNIX_ANSWER = re.compile(
    r"(?:\[(\d{1,12}\.\d{1,9})\] )?(\d{1,6}) bytes from ([^ ,]+(?: \([^ )]+\))?)[:,] (icmp_|)[sr]eq="
    r"(\d{1,10}) (?:ttl|hlim|hops)=\d+ time=(\d{1,9}(?:\.\d{1,9})?) ms$"
)
"""Fast pattern of the usual line, except on Windows: time, size, host, `icmp_`, sequence, RTT in ms."""

_DATED = re.compile(
    r"(?=[^:]{0,40}\d:\d\d)[\[(]?(.{4,50}?)[\])]?[:>|,]? +"
    r"(?=PING6?[ (]|Pinging |\d+ bytes from |Request timeout|Request timed|Reply from |no answer yet|"
    r"--- |\d+ packets transmitted|r(?:tt|ound-trip) min/|From )"
)
"""A date that another program, such as `ts`, has put in front of the line."""
_LONGEST = 400
"""In characters; bounds the time that a pattern may take on a foreign line."""
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_STAMP = re.compile(r"\[(\d{1,12}\.\d{1,9})\]")
_SEQUENCE = re.compile(r"(icmp_|[Ss])?(?:seq|req|equence)[= ](\d{1,10})\b")
_SIZE = re.compile(r"(?<![\d.:=])(\d{1,6}) [^\W\d_]+")
_HOST = re.compile(r"([^\s(]+?)\)?\s*[:,]?\s*$")
_UNIX_TIME = re.compile(r"([=<])\s*(\d{1,9}(?:[.,]\d{1,9})?)\s*(ms|мс|us|usec)\b")
_TIME_IN_ANY_WORDS = re.compile(
    r"\b(?:ttl|hlim|hops)=\d{1,3} [^\s=<]{1,20}([=<])(\d{1,9}(?:[.,]\d{1,9})?)"
    r" ?(ms|[^\x00-\x7f]{1,8})(?: \(|$)",
    re.IGNORECASE,
)
"""iputils translates the name of the time and its unit, which is ms."""
_WINDOWS_TTL = re.compile(r"[=<]\s?(\d{1,6})\b[^=<]{1,40}([=<])\s?(\d{1,9})\s?\S{1,6}\s+TTL=\d+$")
_WINDOWS_IPV6 = re.compile(r"([=<])\s?(\d{1,9})\s?(?:ms|мс)$")
_IPV4 = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}")
_IPV6 = re.compile(r"[0-9A-Fa-f:.]+$")
_ADDRESS = re.compile(_IPV4.pattern + r"|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")
_UNIX_BEGIN = re.compile(r"PING6?[ (]", re.IGNORECASE)
_UNIX_SIZE = re.compile(r"\s(\d{1,6})(?:\((\d{1,6})\))? [^\d:]+$")
_PING6_SIZE = re.compile(r"PING6?\((\d{1,6})=")
_WINDOWS_BEGIN = re.compile(r"\s(\d{1,6}) [^\d:]+:$")
_TOTAL = re.compile(r"(\d{1,12}) [^\d,]+, (\d{1,12}) ")
_TOTAL_TIME = re.compile(r"[, ](\d{1,12}) ?(?:ms|мс)$")
_WINDOWS_TOTAL = re.compile(r"= ?(\d{1,12})(?=[,、\s(]|$)")
_EXTREMES = re.compile(r"=\s*[\d.,]+/[\d.,]+/|(?:= ?\d+ ?\S{1,6}, ?[^=]+){1,2}= ?\d+ ?\S{1,6}$")
_TIMEOUT = re.compile(
    r"timed out|time ?out|no answer|no reply|zeitüberschreitung|zeit.berschreitung|délai|d.lai d.attente|"
    r"tiempo de espera|richiesta scaduta|esgotado|time-out|limit czasu|превышен интервал|超时|逾時|"
    r"タイムアウト|시간이 만료",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"unreachable|time to live exceeded|ttl expired|expired in transit|failure|transmit failed|no route|"
    r"hardware error|no buffer space|operation not permitted|host is down|"
    r"prohibited|network is down|nicht erreichbar|inaccesible|impossible|inaccessível|non raggiungibile|"
    r"недоступ|nieosiągalny",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(r"message too long|frag needed|packet too big|\bDF\b", re.IGNORECASE)
"""Windows names the bit in every language."""
_MTU = re.compile(r"\bmtu ?[=:]? ?(\d{2,5})\b", re.IGNORECASE)
_WARNING = re.compile(
    r"ping6?: |warning: |wrong (data|total)|cp: |\d+/\d+ packets|vr hl tos|\^c|rr: |ts: |"
    r"\(same route\)|#\d{1,5}\s+[\da-f ]{1,120}$",
    re.IGNORECASE,
)
_DUPLICATE = ("(DUP!)", "(duplicate)")
_CUT = re.compile(
    r"\((?:truncated|abgeschnitten|gekürzt|verkürzt|tronqu\w{1,3}|truncad[oa]|troncat[oa]|cortad[oa]|обрезано|усечён|усечено|"
    r"截断|切り詰め\w{0,4}|잘림|obcięt[oay]|zkráceno|kesildi|afgekapt)\)",
    re.IGNORECASE,
)
_WINDOWS_CUT = re.compile(r"[=<] ?\d{1,6} \([^()\d]{1,24}\d{1,6}\)")
_LENGTH_DIFFERS = re.compile(r"wrong total length ", re.IGNORECASE)
_IPV4_ICMP_BYTES = 28
_IPV6_ICMP_BYTES = 48
_IPV4_BYTES = 20
_IPV6_BYTES = 40


def event(line: str) -> Event | None:
    """Parses a line; None if it is not understood."""
    if (usual := UNIX_ANSWER.match(line)) is not None:
        return _usual_answer(usual)
    if len(line) > _LONGEST:
        return None
    if "\x1b" in line:
        return event(_COLOUR.sub("", line).replace("\x1b", ""))
    if (dated := _DATED.match(line)) is not None:
        return _dated(dated[1], line[dated.end() :])
    return _unusual(line)


def _dated(date: str, line: str) -> Event | None:
    found = event(line)
    if isinstance(found, Answer) and found.at_s is None:
        at_s = dates.seconds(date)
        # Whole seconds are too coarse for times of sending.
        if re.search(r"\d[.,]\d", date):
            found.at_s = at_s
        else:
            found.about_s = at_s
    return found


def _unusual(line: str) -> Event | None:
    if (of_hping := hping_event(line)) is not None:
        return of_hping
    if (sequence := _SEQUENCE.search(line)) is not None:
        return _numbered(line, sequence)
    return _windows_answer(line) or _begin(line) or _summary(line) or _not_answered(line) or _remark(line)


def _usual_answer(match: re.Match[str]) -> Answer:
    """Returns the answer that `UNIX_ANSWER` matched."""
    stamp, size, host, icmp, sequence, rtt = match.groups()
    host, header_bytes = _source(host)
    return Answer(
        host,
        int(sequence),
        float(rtt),
        float(stamp) if stamp else None,
        int(size) + header_bytes,
        system=None if icmp else "BusyBox",
    )


@lru_cache(maxsize=256)
def _source(host: str) -> tuple[str, int]:
    """Returns `192.0.2.1` of `host (192.0.2.1)`, or the name without an address; and the IP header's
    length."""
    if host.endswith(")") and "(" in host:
        host = host[host.index("(") + 1 : -1]
    return host, ip_header_bytes(host)


def ip_header_bytes(host: str) -> int:
    return _IPV6_BYTES if ":" in host else _IPV4_BYTES


def _numbered(line: str, sequence: re.Match[str]) -> Event | None:
    number = int(sequence[2])
    before, after = line[: sequence.start()], line[sequence.end() :]
    if (time := _UNIX_TIME.search(after) or _TIME_IN_ANY_WORDS.search(after)) is not None:
        return _unusual_answer(line, before, number, time, "BusyBox" if not sequence[1] else None)
    if _TOO_LONG.search(after):
        return _too_long(number, after.strip())
    is_answer = "=" in after or not _TIMEOUT.search(before)
    if (size := _SIZE.search(before)) is not None and is_answer and not _ERROR.search(after):
        host, is_cut = _host(before), _CUT.search(after) is not None
        return Answer(host, number, None, None, int(size[1]) + ip_header_bytes(host), is_cut=is_cut)
    if _TIMEOUT.search(before) or _ERROR.search(after) or before.startswith(("From ", "[")):
        error = after.strip() if _ERROR.search(after) else ""
        return Unanswered(number, error)
    return None


def _unusual_answer(
    line: str, before: str, number: int, time: re.Match[str], system: System | None
) -> Answer:
    host = _host(before)
    stamp = _STAMP.search(before)
    size = _SIZE.search(before, stamp.end() if stamp else 0)
    unit_ms = 1e-3 if time[3].startswith("us") else 1.0
    return Answer(
        host,
        number,
        float(time[2].replace(",", ".")) * unit_ms,
        float(stamp[1]) if stamp else None,
        int(size[1]) + ip_header_bytes(host) if size else None,
        any(mark in line for mark in _DUPLICATE),
        time[1] == "<",
        system,
    )


def _host(before: str) -> str:
    found = _HOST.search(before[-300:])
    host = found[1] if found else ""
    if host.isascii():
        return host
    # The address stands elsewhere in the sentence.
    address = _ADDRESS.search(before[-300:])
    return address[0] if address else host


def _windows_answer(line: str) -> Answer | None:
    # An IPv6 answer has no TTL; a time of day in front of the line would look like an IPv6 address.
    if (found := _WINDOWS_TTL.search(line)) is not None and (host := _IPV4.search(line)) is not None:
        size, sign, rtt = found.groups()
        is_cut = _WINDOWS_CUT.search(line) is not None
        return _windows(host[0], None if is_cut else int(size) + _IPV4_ICMP_BYTES, sign, rtt, is_cut=is_cut)
    if (found := _WINDOWS_IPV6.search(line)) is not None and (ipv6 := _ipv6_in(line[: found.start()])):
        return _windows(ipv6, None, found[1], found[2])
    return None


def _ipv6_in(text: str) -> str | None:
    words = (word.rstrip(":").partition("%")[0] for word in text.split())
    return next((word for word in words if word.count(":") >= 2 and _IPV6.match(word)), None)


def _windows(host: str, ip_bytes: int | None, sign: str, rtt_ms: str, *, is_cut: bool = False) -> Answer:
    return Answer(
        host, None, float(rtt_ms), None, ip_bytes, is_below=sign == "<", is_cut=is_cut, system="Windows"
    )


def _begin(line: str) -> Begin | Statistics | None:
    if line.endswith(":"):
        return _windows_begin(line)
    if line.startswith("---") and line.endswith("---"):
        return Statistics()
    if _UNIX_BEGIN.match(line) is None:
        return None
    found = _ADDRESS.findall(line)
    if (size := _PING6_SIZE.match(line)) is not None:
        return Begin(found[-1] if found else "", "macOS or BSD", int(size[1]), 0)
    return _unix_begin(line, found[0] if found else "")


def _unix_begin(line: str, host: str) -> Begin | None:
    if (size := _UNIX_SIZE.search(line)) is None:
        return None
    if size[2]:
        return Begin(host, "Linux", int(size[2]), 1)
    header_bytes = _IPV6_ICMP_BYTES if ":" in host else _IPV4_ICMP_BYTES
    # iputils writes a colon only after the interface of `-I`; the others write one after the address.
    is_linux = "): " not in line
    system: System = "Linux" if is_linux else "macOS or BSD"
    return Begin(host, system, int(size[1]) + header_bytes, 1 if is_linux else 0)


def _windows_begin(line: str) -> Begin | Statistics | None:
    size = _WINDOWS_BEGIN.search(line)
    found = _ADDRESS.search(line)
    if size is None or found is None:
        return Statistics() if "ping" in line.lower() else None
    host = found[0]
    header_bytes = _IPV6_ICMP_BYTES if ":" in host else _IPV4_ICMP_BYTES
    return Begin(host, "Windows", int(size[1]) + header_bytes, 0)


def _summary(line: str) -> Total | Remark | None:
    if _EXTREMES.search(line):
        return Remark()
    if line[:1].isdigit():
        total = _TOTAL.match(line)
        if total is None or "%" not in line:
            return None
        time = _TOTAL_TIME.search(line)
        return Total(int(total[1]), int(total[2]), int(time[1]) / 1e3 if time else None)
    counts = _WINDOWS_TOTAL.findall(line)
    if len(counts) == 3:
        return Total(int(counts[0]), int(counts[1]), None)
    return None


def _too_long(sequence: int | None, error: str) -> Unanswered:
    mtu = _MTU.search(error)
    return Unanswered(sequence, error, too_long=True, mtu_bytes=int(mtu[1]) if mtu else None)


def _not_answered(line: str) -> Unanswered | None:
    if _TOO_LONG.search(line):
        return _too_long(None, line)
    if _ERROR.search(line):
        return Unanswered(None, line)
    return Unanswered(None) if _TIMEOUT.search(line) else None


def _remark(line: str) -> Remark | None:
    if _LENGTH_DIFFERS.match(line):
        return Remark(is_cut=True)
    is_date = line[-1:] in ":])>|,0123456789" and dates.seconds(line.strip("[](): >|,")) is not None
    return Remark() if is_date or _WARNING.match(line) else None
