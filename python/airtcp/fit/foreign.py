"""Says of files that no reader takes what they are, and what would help."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class _Foreign:
    """What some other program prints."""

    name: str
    mark: re.Pattern[str]
    cure: str


_RATES = "write its rates as CSV with a heading, e.g. time_s,throughput_mbps, or use iperf3 --json"
_PROBES = "write a row for each packet as CSV with a heading: time_s,rtt_ms,lost; or use ping"
_ROUTE = "it has few packets of each hop; use mtr --json -c 600 HOST"


def _foreign(name: str, mark: str, cure: str) -> _Foreign:
    return _Foreign(name, re.compile(mark, re.MULTILINE), cure)


_FOREIGN = (
    _foreign("traceroute", r"^ ?traceroute6? to \S", _ROUTE),
    _foreign("Windows' tracert", r"^ *\d+ +(?:<?\d+ ms|\*) +(?:<?\d+ ms|\*) +(?:<?\d+ ms|\*) +\S", _ROUTE),
    _foreign("tracepath", r"^ ?\d+\?: \[LOCALHOST\]|^ +Resume: pmtu \d", _ROUTE),
    _foreign("WinMTR", r"WinMTR|^\|[^|]*Host[^|]*\| *Sent \| *Recv \|", "use mtr --json -c 600 HOST"),
    _foreign("mtr's oldest CSV, without a heading", r"^MTR\.\d+\.\d+[,;]", "use mtr --json -c 600 HOST"),
    _foreign("iperf 2", r"^Client connecting to .*(?:TCP|UDP) port|^\d{14},\d+\.\d+\.\d+\.\d+,\d+,", _RATES),
    _foreign("netperf", r"^(?:MIGRATED |OMNI )?.{0,40}TEST from \S+ .*port \d+ AF_|^THROUGHPUT=", _RATES),
    _foreign("nuttcp", r"MB / +[\d.]+ sec = +[\d.]+ Mbps", _RATES),
    _foreign("qperf", r"^(?:tcp|udp|sctp)_(?:bw|lat):$", _RATES),
    _foreign("wget or curl", r"% Received % Xferd|saved \[\d+(?:/\d+)?\]$", _RATES),
    _foreign(
        "owping or twping",
        r"^--- (?:ow|tw)ping statistics from",
        "write its delays as CSV, e.g. time_s,rtt_ms,lost",
    ),
    _foreign("tcptrace", r"Ostermann's tcptrace", "give airtcp the capture itself"),
    _foreign("tcpdump's text", r"^\d\d:\d\d:\d\d\.\d+ IP6? .* Flags \[", "capture with tcpdump -w FILE.pcap"),
    _foreign("nping", r"^(?:SENT|RCVD) \([\d.]+s\) ", _PROBES),
    _foreign("PsPing", r"^PsPing v|^Connecting to \S+: from \S+: [\d.]+ms", _PROBES),
    _foreign("arping", r"^ARPING \S|^Unicast reply from ", "it asks the next host only; use ping"),
    _foreign("tcping", r"^Probing \S+/tcp - ", _PROBES),
    _foreign("MikroTik's ping", r"^ *SEQ HOST +SIZE TTL TIME", _PROBES),
    _foreign("PowerShell's Test-Connection", r"^ *(?:Ping )?Source +(?:Destination|Address) +", _PROBES),
    _foreign("fping's list of hosts", r"^\S+ is (?:alive|unreachable)\b", "use fping -D -c 600 HOST"),
)
_PACKED = (
    (b"\xfd7zXZ\0", "xz -d"),
    (b"BZh", "bunzip2"),
    (b"\x28\xb5\x2f\xfd", "zstd -d"),
    (b"PK\x03\x04", "unzip"),
    (b"7z\xbc\xaf\x27\x1c", "7z x"),
)


def foreign(start: bytes) -> str:
    """Returns a sentence on the file that begins so; empty if nothing is known of it."""
    for magic, tool in _PACKED:
        if start.startswith(magic):
            return f"this file is compressed; unpack it first: {tool} FILE"
    text = start[:8192].decode("utf-8", "replace")
    found = next((each for each in _FOREIGN if each.mark.search(text)), None)
    return f"this is output of {found.name}, which is not read; {found.cure}" if found is not None else ""
