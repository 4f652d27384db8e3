"""Stacks, links and flows of paper 000's experiments."""

from __future__ import annotations

from airtcp_studies.frame import OpenParameter

HEADER_BYTES = 52
"""HP_Sz: 40 bytes of TCP/IP headers and 12 of the timestamp option (§4.8.3)."""
MTU_BYTES = 1500

BSD = "profile=bsd-1998:recovery=reno-ns2:timestamps=true"
WINDOW = "receive_window=245760B:window_scaling=true"
DEFAULT_WINDOW = "receive_window=16384B"
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
    "240 KB with window scaling, for all schemes",
    "not stated; in the paper's bound W is 56 packets, 84 KB, more than the default of 16 KB holds; 240 KB "
    "is the most that FreeBSD 2.2 grants, as its SB_MAX of 256 KB pays for the memory around the data, too",
)
DEFAULT_BUFFERS = OpenParameter(
    "socket buffers",
    "16 KB, for all schemes",
    "not stated; FreeBSD 2.2's default (net.inet.tcp.sendspace and recvspace), and enough here: the link "
    "holds 12.5 KB in a round trip",
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
INTERFACES = OpenParameter(
    "hosts' interfaces",
    "one link of 100 Mbit/s with 50 packets before the shared one",
    "not stated; Fast Ethernet was in PCs of 1998, and a queue in the router needs inputs faster than the "
    "shared link; an interface of BSD holds 50 packets",
)
ABOUT_1_MS = (0.8, 0.9, 1.0, 1.1, 1.2)
"""Mean round trips without a queue."""
ACKS_VARY_BY_MS = 0.8
RTT = OpenParameter(
    "RTT",
    f"on average {ABOUT_1_MS[0]:g} to {ABOUT_1_MS[-1]:g} ms, in {len(ABOUT_1_MS)} steps; ACKs take up to "
    f"{ACKS_VARY_BY_MS:g} ms longer than others, in order",
    "“about 1 ms”: hosts vary, and where nothing does, who finds a drop-tail queue full is a matter of phase "
    "(Floyd and Jacobson 1992); they recommend a packet's time on the link, 1.2 ms, with which an RTT of "
    "about 1 ms would be any from 0.4 to 1.6 ms",
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


def shared(rtt_ms: float, *, queue: str, vary_ms: float = ACKS_VARY_BY_MS, interfaces: bool = True) -> str:
    """§4.8.2: the hosts' interfaces, and the link of 10 Mbit/s that they share. `rtt_ms` is the mean."""
    hosts = '[[link]]\nname = "interfaces"\nrate = "100Mbit/s"\ndelay = "0s"\nqueue = { packets = 50 }\n'
    least_ms = round(rtt_ms - vary_ms / 2, 3)
    vary = f"{vary_ms:g}ms" if vary_ms else ""
    return (hosts if interfaces else "") + link("10Mbit/s", least_ms, queue=queue, acks_vary_by=vary)


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
