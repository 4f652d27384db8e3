"""Output of programs that no reader takes is named, with what would help; it never becomes a figure."""

from __future__ import annotations

import bz2
import lzma
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airtcp.fit.detect import read
from airtcp.fit.readers import FileError

OUTPUTS = {
    "traceroute": (
        "traceroute to example.org (192.0.2.1), 30 hops max, 60 byte packets\n"
        " 1  192.0.2.9  1.0 ms  1.1 ms  1.2 ms\n"
    ),
    "tracert": ("\nTracing route to example.org [192.0.2.1]\n\n  1     1 ms    <1 ms     1 ms  192.0.2.9\n"),
    "tracepath": (
        " 1?: [LOCALHOST]          pmtu 1500\n"
        " 1:  192.0.2.9           0.611ms\n"
        "     Resume: pmtu 1492 hops 2 back 2\n"
    ),
    "WinMTR": (
        "|      Host              -   %  | Sent | Recv | Best | Avrg | Wrst | Last |\n"
        "|  192.0.2.9 -    0 |  10 |  10 |  1 |  2 |  3 |  2 |\n"
    ),
    "mtr's oldest CSV": ("MTR.0.86,1700000000,OK,example.org,1,192.0.2.9,0.00,10,1.10,1.10,0.80,3.20,0.20\n"),
    "iperf 2": (
        "Client connecting to 192.0.2.1, TCP port 5001\n"
        "[ ID] Interval  Bandwidth\n"
        "[  3]  0.0- 1.0 sec  10.5 Mbits/sec\n"
    ),
    "netperf": (
        "MIGRATED TCP STREAM TEST from 0.0.0.0 port 0 AF_INET to 192.0.2.1 () port 0 AF_INET : demo\n"
        " 87380  16384  16384    10.05      9.41\n"
    ),
    "nuttcp": ("    1.1250 MB /   1.00 sec =    9.4369 Mbps     0 retrans\n"),
    "qperf": ("tcp_bw:\n    bw  =  1.17 MB/sec\n"),
    "owping": (
        "--- owping statistics from [a]:9123 to [b]:9876 ---\nseq_no=0  delay=10.1 ms  (sync, err=0.1 ms)\n"
    ),
    "nping": (
        "SENT (0.0123s) ICMP [192.0.2.7 > 192.0.2.1 Echo request id=1 seq=1] IP [ttl=64 id=1 iplen=28 ]\n"
    ),
    "PsPing": ("PsPing v2.10\nConnecting to 192.0.2.1:443: from 192.0.2.7:50123: 21.43ms\n"),
    "arping": (
        "ARPING 192.0.2.1 from 192.0.2.7 eth0\nUnicast reply from 192.0.2.1 [02:00:00:00:00:01]  1.113ms\n"
    ),
    "MikroTik": (
        "  SEQ HOST                 SIZE TTL TIME  STATUS\n    0 192.0.2.1              56  56 20ms\n"
    ),
    "fping": ("192.0.2.1 is alive\n192.0.2.2 is unreachable\n"),
    "tcpdump": ("03:08:50.123456 IP 192.0.2.7.40000 > 192.0.2.1.80: Flags [S], seq 1, win 64240, length 0\n"),
}


@pytest.mark.parametrize("name", OUTPUTS)
@given(times=st.integers(1, 40))
@settings(max_examples=4, suppress_health_check=list(HealthCheck), derandomize=True)
def test_what_another_program_printed_is_named(name: str, times: int, tmp_path: Path) -> None:
    head, _, rest = OUTPUTS[name].partition("\n")
    path = tmp_path / "output.txt"
    path.write_text(f"{head}\n{(rest or head) * times}\n")
    with pytest.raises(FileError, match=f"output of .*{name}.*, which is not read; "):
        read(path)


@pytest.mark.parametrize(
    ("packed", "tool"), [(lzma.compress(b"x" * 99), "xz -d"), (bz2.compress(b"x"), "bunzip2")]
)
def test_a_packed_file_is_named(packed: bytes, tool: str, tmp_path: Path) -> None:
    path = tmp_path / "capture.pcap.xz"
    path.write_bytes(packed)
    with pytest.raises(FileError, match=f"compressed; unpack it first: {tool}"):
        read(path)
