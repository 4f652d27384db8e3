"""Parses the lines that hping prints, of ICMP (`-1`), TCP (`-S`, `-A`) or UDP (`-2`)."""

from __future__ import annotations

import re

from airtcp.fit.readers.ping.events import Answer, Begin, Event, Remark

_BEGIN = re.compile(
    r"HPING (\S{1,255}) \((?:\S{1,32} )?(\S{1,64})\): .{1,80}?(\d{1,5}) headers \+ (\d{1,5}) data"
)
_ANSWER = re.compile(
    r"(?=.{0,300}\brtt=(\d{1,9}(?:\.\d{1,9})?) ms)(?=.{0,300}\b(?:icmp_)?seq=(\d{1,10})\b)"
    r"(?:DUP! )?(?:len=(\d{1,5}) ip=(\S{1,64}) |sport=|icmp_seq=|status=)"
)
_REST = re.compile(
    r"len=\d{1,5} ip=|seq=\d{1,10} ack=|ICMP timestamp|tsrtt=|tos=|hping in |using \w{1,16}, addr"
)
"""Of an answer's further lines with `-V`, and remarks."""


def hping_event(line: str) -> Event | None:
    """Returns None if the line is not hping's."""
    if (begin := _BEGIN.match(line)) is not None:
        return Begin(begin[2], "hping", int(begin[3]) + int(begin[4]), 0)
    if "rtt=" in line and (answer := _ANSWER.match(line)) is not None:
        rtt, number, _, host = answer.groups()
        is_duplicate = line.startswith("DUP!")
        # `id=` numbers the host's packets, and `len=` is the answer's length, not the probe's.
        return Answer(
            host or "", int(number), float(rtt), None, None, is_duplicate=is_duplicate, system="hping"
        )
    return Remark() if _REST.match(line) else None
