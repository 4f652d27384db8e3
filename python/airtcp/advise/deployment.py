"""What each scheme, or part of one, needs on real hosts: facts, each with its source.

`Place` is what somebody must control to use it; `stage` says how far it is from a running Linux.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from airtcp.facts.headers import HEADER_BYTES, IPV6_MORE_BYTES

Place = Literal["sender", "receiver", "gateway"]
Stage = Literal["default", "setting", "software", "build", "unwritten", "history"]
Airtcp = Literal["not needed", "yes", "not yet", "no"]

STAGES: dict[Stage, str] = {
    "default": "the Linux default",
    "setting": "in Linux: a setting or a module",
    "software": "existing software, to be installed",
    "build": "existing software outside Linux, to be built",
    "unwritten": "no implementation available",
    "history": "of historical interest: no system offers it",
}
"""In order of increasing effort."""

AIRTCP: dict[Airtcp, str] = {
    "not needed": "needs no airtcp",
    "yes": "airtcp deploys it",
    "not yet": "airtcp cannot deploy it yet",
    "no": "airtcp will not deploy it",
}


@dataclass(frozen=True)
class Facts:
    """What one scheme, part of a scheme, or queue needs."""

    places: frozenset[Place]
    """Places that must all be under control."""
    stage: Stage
    how: str
    """How it is deployed, in a few words."""
    source: str
    """Source of the facts, or the reason for them."""
    airtcp: Airtcp
    root: bool = True
    headers: str | None = None
    """What it changes in packets or must agree with the other end; None if nothing."""
    encrypted: str | None = None
    """Traffic that does not benefit, being unreadable or not the host's TCP; None if nothing special."""
    caution: str | None = None
    """What an operator should know beyond the figures."""
    needs_marks: bool = False
    """Slows down only on routers' marks, and so never on a path that does not mark."""


SENDER: frozenset[Place] = frozenset({"sender"})
RECEIVER: frozenset[Place] = frozenset({"receiver"})
GATEWAY: frozenset[Place] = frozenset({"gateway"})
BOTH: frozenset[Place] = frozenset({"sender", "receiver"})

QUIC_APART = "QUIC and other user-space transports have their own congestion control"
STRUCT_OPS = "the kernel must support eBPF congestion controls: check with `airtcpd doctor`"
READS_TCP = "must read TCP headers: TLS is fine, but IPsec, VPN tunnels and QUIC do not benefit"


def _in_linux(module: str, source: str, caution: str | None = None, *, else_airtcpd: bool = False) -> Facts:
    how = f"modprobe tcp_{module}; sysctl net.ipv4.tcp_congestion_control={module}"
    if else_airtcpd:
        how += f"; if the module is not available: airtcpd cc load {module}"
    return Facts(SENDER, "setting", how, source, "not needed", encrypted=QUIC_APART, caution=caution)


def _by_airtcpd(name: str, source: str) -> Facts:
    """Facts of a scheme that is an eBPF program here."""
    return Facts(
        SENDER,
        "software",
        f"airtcpd cc load {name} --default",
        source,
        "yes",
        encrypted=QUIC_APART,
        caution=STRUCT_OPS,
    )


def _for_marks(name: str, source: str) -> Facts:
    return replace(
        _by_airtcpd(name, source),
        how=f"sysctl net.ipv4.tcp_ecn=1; airtcpd cc load {name} --default",
        headers="ECN must be negotiated with the receiver (net.ipv4.tcp_ecn=1)",
        caution=f"{MARKS_ONLY}; {STRUCT_OPS}",
        needs_marks=True,
    )


MARKS_ONLY = (
    "never slows down where queues drop instead of marking: use only on a path whose routers all mark "
    "(`airtcp measure HOST --iperf3 PORT` sees whether they do)"
)

CONGESTION_CONTROLS: dict[str, Facts] = {
    "reno": Facts(
        SENDER,
        "setting",
        "sysctl net.ipv4.tcp_congestion_control=reno",
        "built into every Linux (tcp_cong.c)",
        "not needed",
        encrypted=QUIC_APART,
    ),
    "cubic": Facts(
        SENDER,
        "default",
        "nothing to do",
        "RFC 9438 §1: default of Linux, Windows and Apple's systems",
        "not needed",
        root=False,
        encrypted=QUIC_APART,
    ),
    "vegas": _in_linux(
        "vegas",
        "Linux module tcp_vegas",
        "gives way to loss-based flows in the same queue; misled by variable delay",
        else_airtcpd=True,
    ),
    "veno": _in_linux("veno", "Linux module tcp_veno", else_airtcpd=True),
    "westwood-plus": _in_linux("westwood", "Linux module tcp_westwood, which is Westwood+"),
    "hybla": _in_linux(
        "hybla",
        "Linux module tcp_hybla",
        "grows faster than Reno by the square of RTT/25 ms",
        else_airtcpd=True,
    ),
    "bbr": _in_linux("bbr", "Linux module tcp_bbr, version 1"),
    "bbr3": Facts(
        SENDER,
        "build",
        "a kernel from the authors' branch (github.com/google/bbr, v3)",
        "draft-ietf-ccwg-bbr; not in mainline Linux, whose tcp_bbr is version 1",
        "not yet",
        encrypted=QUIC_APART,
    ),
    "westwood": Facts(
        SENDER,
        "unwritten",
        "no implementation available, as an eBPF program (struct_ops) or a module",
        "Mascolo et al., MobiCom 2001: the original filter; Linux's tcp_westwood has Westwood+'s",
        "not yet",
        encrypted=QUIC_APART,
    ),
    "westwood-nr": _by_airtcpd(
        "westwood-nr", "its authors' ns-2 code, tcp-westwood-nr.cc; not in any operating system"
    ),
    "westwood-vt": _by_airtcpd(
        "westwood-vt", "Koo, Mun, Choo, ICCS 2007 (paper 004); not in any operating system"
    ),
    "concord": replace(
        _by_airtcpd("concord", "airtcp's own; not in any operating system"),
        caution=f"fair to CUBIC if the buffer holds ten packets or more; Linux 6.10; {STRUCT_OPS}",
    ),
    "spectcp": _for_marks("spectcp", "paper 002; not in any operating system"),
    "jersey": _for_marks("jersey", "Xu, Tian, Ansari, IEEE JSAC 22(4), 2004; not in any operating system"),
    "new-jersey": _for_marks(
        "new-jersey", "Xu, Tian, Ansari, Computer Networks 47(2), 2005; not in any operating system"
    ),
}


KERNELS = {
    "reno": "reno",
    "cubic": "cubic",
    "bbr": "bbr",
    "vegas": "vegas",
    "veno": "veno",
    "hybla": "hybla",
    "westwood-plus": "westwood",
}
"""Linux's own controls, built in or as module tcp_NAME, by our names."""


def _recovery(stage: Stage, how: str, source: str, airtcp: Airtcp, caution: str | None = None) -> Facts:
    root = stage != "default"
    return Facts(SENDER, stage, how, source, airtcp, root=root, encrypted=QUIC_APART, caution=caution)


PARTS: dict[str, Facts] = {
    "tahoe": _recovery("history", "nothing offers it", "4.3BSD-Tahoe, 1988; superseded in 1990", "no"),
    "newreno": _recovery(
        "setting", "sysctl net.ipv4.tcp_sack=0 net.ipv4.tcp_recovery=0", "Linux ip-sysctl", "not needed"
    ),
    "sack": _recovery(
        "setting",
        "sysctl net.ipv4.tcp_recovery=0",
        "Linux ip-sysctl: tcp_recovery, without its RACK bit",
        "not needed",
    ),
    "rack": _recovery(
        "default", "nothing to do", "Linux ip-sysctl: tcp_recovery is 1 by default", "not needed"
    ),
    "eifel": _recovery(
        "default", "nothing to do", "Linux undoes by timestamps wherever they are negotiated", "not needed"
    ),
    "f-rto": _recovery("default", "nothing to do", "Linux ip-sysctl: tcp_frto is 2 by default", "not needed"),
    "rto-m": _recovery(
        "software",
        "airtcpd rto --factor 12 --cgroup PATH",
        "paper 003 §II; by tcp_rto_min_us above the RTO and TCP_RTO_MAX_MS = SRTT + m·RTTVAR, at least 1 s",
        "yes",
        "a real loss of the last packets is detected later; applies only to the cgroup's connections",
    ),
    "gbn": _recovery(
        "default",
        "nothing to do",
        "Linux marks all that is outstanding lost on a timeout, before which its tail loss probe acts",
        "not needed",
    ),
    "sr": _recovery("unwritten", "a changed kernel", "paper 003 §III; Linux goes back N on a timeout", "no"),
}

CIRCUITS: dict[str, Facts] = {
    "decoupling": Facts(
        BOTH,
        "software",
        "airtcpd circuit receive at the receiver, airtcpd decouple -- COMMAND at the sender; or a trunk"
        " between two gateways, airtcpd circuit send and receive, which leaves the hosts unchanged",
        "paper 000 §4 and §8",
        "yes",
        headers=f"adds header packets of {HEADER_BYTES} bytes ({HEADER_BYTES + IPV6_MORE_BYTES} with IPv6),"
        " one per VMSS of data, which firewalls must admit",
        encrypted="the circuit carries packets of any kind; the data TCP is the host's own",
        caution="helps only what the decoupled host sends: for the other direction, run it at the other end"
        " too; a trunk between gateways repairs nothing, so that without decoupled hosts it gives nothing"
        " against random loss",
    ),
}


def _gateway(
    stage: Stage, how: str, source: str, airtcp: Airtcp, headers: str | None, caution: str | None = None
) -> Facts:
    return Facts(
        GATEWAY,
        stage,
        how,
        source,
        airtcp,
        headers=headers,
        encrypted=READS_TCP,
        caution=caution,
    )


GATEWAYS: dict[str, Facts] = {
    "packet-control": _gateway(
        "software",
        "airtcpd filter attach IFACE, the gateway's interface to the fixed hosts",
        "paper 001 §VI, as eBPF programs (tc)",
        "yes",
        "drops duplicate ACKs and data already acknowledged",
    ),
    "snoop": _gateway(
        "unwritten",
        "a program on the gateway that caches packets and resends them",
        "Balakrishnan et al., MobiCom 1995; not in any operating system",
        "not yet",
        "drops duplicate ACKs",
        "data and ACKs must pass the same gateway",
    ),
    "split": _gateway(
        "software",
        "airtcpd proxy run --wireless IFACE, the gateway's interface to the mobile hosts",
        "I-TCP, ICDCS 1995; paper 003 §IV; RFC 3135 on its costs",
        "yes",
        "TCP ends at the gateway: options are negotiated on each side",
        "helps what the gateway sends over the lossy link; what comes back over it the mobile hosts send, and"
        " gain no more than shorter round trips; not end to end: an ACK means that the proxy has the data,"
        " which is lost if the proxy fails",
    ),
    "eln": Facts(
        frozenset({"sender", "gateway"}),
        "unwritten",
        "a program on the gateway that marks wireless losses, and a sender that trusts it",
        "Balakrishnan & Katz, GLOBECOM 1998; no TCP option is assigned to it",
        "not yet",
        headers="a non-standard mark on duplicate ACKs",
        encrypted=READS_TCP,
    ),
    "delay-jitter": _gateway(
        "unwritten",
        "a queue discipline that delays some packets",
        "Klein et al., GLOBECOM 2004; tc-netem delays, but not only some packets",
        "not yet",
        None,
        "adds delay on purpose",
    ),
}

TUNNELS: dict[str, Facts] = {
    "fec": Facts(
        BOTH,
        "software",
        "a tunnel with an erasure code over packets at both ends, e.g. tinyfecVPN",
        "tinyfecVPN's README: Reed-Solomon over a TUN device, on Linux and OpenWrt",
        "no",
        headers="wraps packets in UDP: each holds a few bytes less, and parity takes a share of the rate",
        caution="repairs losses unless a burst exceeds its parity; repaired packets arrive late",
    ),
    "arq": Facts(
        BOTH,
        "unwritten",
        "a tunnel that retransmits lost packets a limited number of times",
        "tunnels over TCP retransmit indefinitely, below a TCP that also retransmits",
        "no",
        headers="adds a header with a sequence number",
        caution="a retransmitted packet is a round trip late, and later packets wait for it",
    ),
}

QUEUES: dict[str, Facts] = {
    "fq-codel": Facts(
        GATEWAY,
        "setting",
        "tc qdisc replace dev IF root fq_codel, where the queue builds up",
        "RFC 8290; Linux sch_fq_codel",
        "not needed",
        caution="helps only at the bottleneck's queue; elsewhere shape to just below the rate (tc cake)",
    ),
    "red-ecn": Facts(
        GATEWAY,
        "setting",
        "tc qdisc replace dev IF root red … ecn, where the queue builds up",
        "RFC 3168, RFC 7567; Linux sch_red",
        "not needed",
        headers="marks ECN-capable packets instead of dropping them",
    ),
    "congestion-warning": Facts(
        GATEWAY,
        "unwritten",
        "a queue discipline that marks all packets while its average queue is long",
        "Xu, Tian, Ansari, IEEE JSAC 22(4), 2004; Linux's sch_red comes near with a single threshold",
        "not yet",
        headers="marks ECN-capable packets",
    ),
}

SETTINGS: dict[str, Facts] = {
    "send_buffer": Facts(
        SENDER,
        "setting",
        "sysctl net.ipv4.tcp_wmem, or SO_SNDBUF of the application",
        "Linux tcp(7)",
        "not needed",
        encrypted=QUIC_APART,
        caution="a system-wide setting applies to all of the sender's paths, and costs its memory",
    ),
    "receive_window": Facts(
        RECEIVER,
        "setting",
        "sysctl net.ipv4.tcp_rmem, or SO_RCVBUF of the application",
        "Linux tcp(7); RFC 9293 §3.8.6",
        "not needed",
        encrypted=QUIC_APART,
        caution="a system-wide setting applies to all of the receiver's paths",
    ),
    "ecn": Facts(
        SENDER,
        "setting",
        "sysctl net.ipv4.tcp_ecn=1 at the sender",
        "RFC 3168; Linux ip-sysctl: 2, the default, agrees to ECN and does not ask for it",
        "not needed",
        headers="ECN is requested when a connection opens; Linux receivers accept it",
        encrypted=QUIC_APART,
    ),
    "ack_every": Facts(
        RECEIVER,
        "setting",
        "ip route change … quickack 1",
        "RFC 5681 §4.2; Linux ip-route(8)",
        "not needed",
        encrypted=QUIC_APART,
        caution="twice as many ACKs in the reverse direction",
    ),
}

OWN = Facts(
    SENDER,
    "unwritten",
    "no kernel implementation available, as an eBPF program (struct_ops) or a module: a model in Python",
    "--controller",
    "no",
    encrypted=QUIC_APART,
)
"""A congestion control of the asker."""

FACTS: dict[str, Facts] = {**CONGESTION_CONTROLS, **PARTS, **CIRCUITS, **GATEWAYS}
"""Keyed by the names that `airtcp schemes` lists."""
