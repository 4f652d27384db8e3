"""Stacks, links and flows of paper 000's experiments."""

from __future__ import annotations

from airtcp_studies.frame import OpenParameter

HEADER_BYTES = 52
"""HP_Sz: 40 bytes of TCP/IP headers and 12 of the timestamp option (§4.8.3)."""
MTU_BYTES = 1500

BSD = "profile=bsd-1998:recovery=reno-ns2:timestamps=true"
WINDOW = "receive_window=1MB:window_scaling=true"
RENO = f"reno:{BSD}:{WINDOW}"
"""Plain TCP as in the testbed."""
DECOUPLED = "decoupling:error_control=paper:tunnel_queue=50:tunnel_delay=0s:loss_reports=false"
"""The paper's circuit and data TCP: its error control and tunnel queue, without loss reports."""

STACK = OpenParameter(
    "hosts",
    "profile bsd-1998 with timestamps; Reno whose duplicate ACKs may begin several recoveries in one window",
    "the testbed ran FreeBSD 2.2.8: a clock of 500 ms, delayed ACKs, header packets with timestamps, and a "
    "fast retransmit that knows no “recover” (Fall and Floyd 1996 describe it)",
)
BUFFERS = OpenParameter(
    "socket buffers",
    "1 MB with window scaling, for all schemes",
    "not stated; the paper's own bound has W = 56 packets, 84 KB, which 64 KB would not hold",
)
TUNNEL_QUEUE = OpenParameter(
    "tunnel queue", "50 packets", "not stated; it is a network interface's (§4.5), which in BSD has 50"
)
TIMER = OpenParameter(
    "F3's timer",
    "a clock of 50 ms and a floor of two ticks, without back-off",
    "“fine-grain retransmission timer of 50 ms, rather than the system default of 500 ms”: 500 ms is the "
    "default's tick, and BSD's floor is two of them",
)
VARYING_ACKS = OpenParameter(
    "variation",
    "ACKs take up to as long as stated in the set-up longer, in order",
    "real hosts vary; where nothing does, who finds a drop-tail queue full is a matter of phase (Floyd and "
    "Jacobson 1992), and every run is the same",
)


def link(rate: str, rtt_ms: float, *, queue: str, acks_vary_by: str = "", more: str = "") -> str:
    """One link, with half the round trip each way; `acks_vary_by` is a duration."""
    jitter = f'{{ distribution = "uniform", high = "{acks_vary_by}", overtaking = false }}'
    reverse = f"[link.reverse]\njitter = {jitter}\n" if acks_vary_by else ""
    return f"""
[[link]]
name = "link"
rate = "{rate}"
delay = "{rtt_ms / 2}ms"
queue = {queue}
{more}
{reverse}"""


def flow(name: str, scheme: str, count: int = 1) -> str:
    """Unlimited transfers that start within half a second."""
    return f"""
[[flow]]
name = "{name}"
scheme = "{scheme}"
count = {count}
stagger = "500ms"
start = "{"0s" if name.endswith("1") else "250ms"}"
"""
