"""What each scheme, or part of one, needs to be used on real hosts: facts, each with its source.

`Place` is what somebody must control to use it; `stage` says how far it is from a running Linux.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Place = Literal["sender", "receiver", "gateway"]
Stage = Literal["default", "setting", "software", "build", "unwritten", "history"]
Airtcp = Literal["not needed", "yes", "not yet", "no"]

STAGES: dict[Stage, str] = {
    "default": "what Linux does unasked",
    "setting": "in Linux: a setting or a module",
    "software": "software that exists: to be installed",
    "build": "software that exists, outside Linux: to be built",
    "unwritten": "without an implementation: to be written",
    "history": "of historical interest: no system offers it",
}
"""In order of effort."""

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
    """All of them must be under control."""
    stage: Stage
    how: str
    """What is done, in a few words."""
    source: str
    """Where the facts are from, or the reason."""
    airtcp: Airtcp
    root: bool = True
    headers: str | None = None
    """What of the packets changes, or has to be agreed with the other end; None: nothing."""
    encrypted: str | None = None
    """What does not benefit because it cannot be read or is no TCP of the host; None: nothing special."""
    caution: str | None = None
    """What an operator should know before, beyond the figures."""
    needs_marks: bool = False
    """Slows down for the marks of routers alone: on a path that does not mark it never does."""


SENDER: frozenset[Place] = frozenset({"sender"})
RECEIVER: frozenset[Place] = frozenset({"receiver"})
GATEWAY: frozenset[Place] = frozenset({"gateway"})
BOTH: frozenset[Place] = frozenset({"sender", "receiver"})

QUIC_APART = "QUIC and other user-space transports have a congestion control of their own"
STRUCT_OPS = "the kernel must be able to take eBPF congestion controls: `airtcpd doctor` says whether it can"
READS_TCP = "must read TCP headers: TLS passes, IPsec, VPN tunnels and QUIC get no help"


def _in_linux(module: str, source: str, caution: str | None = None, *, else_airtcpd: bool = False) -> Facts:
    how = f"modprobe tcp_{module}; sysctl net.ipv4.tcp_congestion_control={module}"
    if else_airtcpd:
        how += f"; where the module is not built: airtcpd cc load {module}"
    return Facts(SENDER, "setting", how, source, "not needed", encrypted=QUIC_APART, caution=caution)


def _by_airtcpd(name: str, source: str) -> Facts:
    """Here it is an eBPF program."""
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


MARKS_ONLY = "never slows down where queues drop instead of marking: only for a path whose routers all mark"

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
        "congestion control to be written, as an eBPF program (struct_ops) or a module",
        "Mascolo et al., MobiCom 2001: the first filter; Linux's tcp_westwood has that of Westwood+",
        "not yet",
        encrypted=QUIC_APART,
    ),
    "westwood-nr": _by_airtcpd("westwood-nr", "its authors' ns-2 code, tcp-westwood-nr.cc; in no system"),
    "westwood-vt": _by_airtcpd("westwood-vt", "Koo, Mun, Choo, ICCS 2007 (paper 004); in no system"),
    "concord": replace(
        _by_airtcpd("concord", "airtcp's own; in no system"),
        caution=f"fair to CUBIC where the buffer holds ten packets or more; Linux 6.10; {STRUCT_OPS}",
    ),
    "spectcp": _for_marks("spectcp", "paper 002; in no system"),
    "jersey": _for_marks("jersey", "Xu, Tian, Ansari, IEEE JSAC 22(4), 2004; in no system"),
    "new-jersey": _for_marks("new-jersey", "Xu, Tian, Ansari, Computer Networks 47(2), 2005; in no system"),
}


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
        "a real loss of the last packets is found later; holds for the cgroup's connections alone",
    ),
    "gbn": _recovery(
        "default", "nothing to do", "Linux marks all that is outstanding lost on a timeout", "not needed"
    ),
    "sr": _recovery("unwritten", "a changed kernel", "paper 003 §III; Linux goes back N on a timeout", "no"),
}

CIRCUITS: dict[str, Facts] = {
    "decoupling": Facts(
        BOTH,
        "software",
        "airtcpd circuit receive at the receiver, airtcpd decouple -- COMMAND at the sender; or a trunk"
        " of two gateways, airtcpd circuit send and receive, which leaves the hosts as they are",
        "paper 000 §4 and §8",
        "yes",
        headers="adds header packets of 40 bytes, one for each VMSS of data, which firewalls must let pass",
        encrypted="the circuit carries packets of any kind; the data TCP is the host's own",
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
        "drops duplicate ACKs and data that has been acknowledged",
    ),
    "snoop": _gateway(
        "unwritten",
        "a program on the gateway that caches packets and resends them",
        "Balakrishnan et al., MobiCom 1995; in no system",
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
        "not end to end: an ACK says that the proxy has the data, and what it holds is lost if it fails",
    ),
    "eln": Facts(
        frozenset({"sender", "gateway"}),
        "unwritten",
        "a program on the gateway that notes what the wireless link lost, and a sender that believes it",
        "Balakrishnan & Katz, GLOBECOM 1998; no TCP option is assigned to it",
        "not yet",
        headers="a mark on duplicate ACKs that has no standard",
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
        headers="wraps packets in UDP: some bytes less fit into each, and parity takes its share of the rate",
        caution="repairs losses that are not in bursts longer than its parity; late ones arrive out of order",
    ),
    "arq": Facts(
        BOTH,
        "unwritten",
        "a tunnel that repeats what is lost a few times, and no more",
        "tunnels over TCP repeat without end, below a TCP that repeats, too",
        "no",
        headers="wraps packets in a header of its own with a number",
        caution="what it repeats is late by a round trip, and what follows waits",
    ),
}

QUEUES: dict[str, Facts] = {
    "fq-codel": Facts(
        GATEWAY,
        "setting",
        "tc qdisc replace dev IF root fq_codel, where the queue builds up",
        "RFC 8290; Linux sch_fq_codel",
        "not needed",
        caution="helps only where it is the bottleneck's queue: else shape to just below the rate (tc cake)",
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
    "receive_window": Facts(
        RECEIVER,
        "setting",
        "sysctl net.ipv4.tcp_rmem, or SO_RCVBUF of the application",
        "Linux tcp(7); RFC 9293 §3.8.6",
        "not needed",
        encrypted=QUIC_APART,
        caution="holds on every path of the receiver, where it is set for all",
    ),
    "ecn": Facts(
        SENDER,
        "setting",
        "sysctl net.ipv4.tcp_ecn=1 at the sender",
        "RFC 3168; Linux ip-sysctl: 2, the default, agrees to ECN and does not ask for it",
        "not needed",
        headers="ECN is asked for when a connection opens; receivers that run Linux agree",
        encrypted=QUIC_APART,
    ),
    "ack_every": Facts(
        RECEIVER,
        "setting",
        "ip route change … quickack 1",
        "RFC 5681 §4.2; Linux ip-route(8)",
        "not needed",
        encrypted=QUIC_APART,
        caution="twice as many ACKs on the way back",
    ),
}

OWN = Facts(
    SENDER,
    "unwritten",
    "to be written for the kernel, as an eBPF program (struct_ops) or a module: it is a model in Python",
    "--controller",
    "no",
    encrypted=QUIC_APART,
)
"""A congestion control of the asker's."""

FACTS: dict[str, Facts] = {**CONGESTION_CONTROLS, **PARTS, **CIRCUITS, **GATEWAYS}
"""By the name that `airtcp schemes` lists."""
