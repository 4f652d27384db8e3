"""What is measured: scenarios as text, and how long each runs.

A workload runs twice, for a short and for a long simulated time; the difference of both in CPU time and
instructions, divided by the difference in delivered packets, leaves set-up and slow start out.
"""

from __future__ import annotations

from dataclasses import dataclass

Span = tuple[float, float]
"""The short and the long run, in simulated seconds."""


@dataclass(frozen=True)
class Workload:
    name: str
    scenario: str
    timed_s: Span
    counted_s: Span | None
    """For instructions, which valgrind counts slowly: None where it would take minutes."""
    ns2: tuple[float, ...] | None = None
    """The arguments of ns2/bulk.tcl for the same work, but for the last, the duration."""


def packets(rate_mbps: float, rtt_ms: float, packet_bytes: int = 1500) -> int:
    """A bandwidth-delay product."""
    return round(rate_mbps * rtt_ms * 1e3 / 8 / packet_bytes)


def scenario(scheme: str, links: str, flows: int = 1, stagger_s: float = 0.0, seeds: int = 1) -> str:
    return f'''schemes = ["{scheme}"]
duration = "10s"
seeds = {seeds}
{links}
[[flow]]
count = {flows}
stagger = "{stagger_s}s"
'''


def link(
    rate_mbps: float, rtt_ms: float = 20, queue: str | None = None, more: str = "", name: str = "hop"
) -> str:
    """Its queue holds one BDP, unless `queue` says otherwise. ACKs meet neither a full queue nor losses."""
    return f'''
[[link]]
name = "{name}"
rate = "{rate_mbps}Mbit/s"
delay = "{rtt_ms / 2}ms"
queue = {{ {queue or f"packets = {max(10, packets(rate_mbps, rtt_ms))}"} }}
{more}
reverse = {{ queue = {{ packets = 1000000 }}, loss = {{}} }}
'''


ROOMY = "receive_window=1GB:send_buffer=1GB"
"""No buffer of a host limits it."""


def beside_ns2(
    name: str,
    flows: int,
    rate_mbps: int,
    timed_s: Span,
    counted_s: Span | None,
    loss: float = 0.0,
    stagger_s: float = 0.0,
) -> Workload:
    """What ns-2's NewReno does: 1040-byte packets, each one acknowledged; a queue of one BDP."""
    rtt_ms = 20
    bdp = packets(rate_mbps, rtt_ms, 1040)
    # Slow start ends at a flow's share, to be in steady state soon.
    ssthresh = max(2, bdp // flows)
    stack = "newreno:profile=ns2-2.35:receive_window=1GB:window_scaling=true"
    links = link(rate_mbps, rtt_ms, f"packets = {bdp}", f"loss = {{ packet = {loss} }}")
    text = scenario(f"{stack}:initial_ssthresh={ssthresh}", links, flows, stagger_s)
    return Workload(name, text, timed_s, counted_s, (flows, rate_mbps, rtt_ms, loss, bdp, stagger_s))


def shared(flows: int, timed_s: Span, counted_s: Span | None) -> Workload:
    return beside_ns2(f"{flows} flows, 5 Mbit/s each", flows, 5 * flows, timed_s, counted_s, stagger_s=1.0)


def crowd_on_linux(flows: int) -> Workload:
    """As `shared`, by the rules of profile linux: SACK, timestamps, delayed ACKs."""
    stack = f"newreno:initial_ssthresh={packets(5, 20)}"
    text = scenario(stack, link(5 * flows, 20), flows, stagger_s=1.0)
    return Workload(f"{flows} flows, 5 Mbit/s each, profile linux", text, (1.5, 2), None)


LOSSY = beside_ns2("1 flow, 100 Mbit/s, 1 % loss", 1, 100, (10, 1010), (10, 110), loss=0.01)
CLEAN = beside_ns2("8 flows, 100 Mbit/s, no loss", 8, 100, (5, 65), (5, 15))
ALONE = shared(1, (10, 1010), (10, 210))
MANY = [shared(1_000, (1.5, 2.5), (1.5, 1.7)), shared(10_000, (1.5, 2), None)]
CROWDS = [
    (1_000, MANY[0]),
    (10_000, MANY[1]),
    (10_000, crowd_on_linux(10_000)),
    (100_000, crowd_on_linux(100_000)),
]
"""What is measured for memory, with the number of flows."""

BESIDE_NS2 = [LOSSY, CLEAN, ALONE, shared(10, (10, 110), (10, 30)), shared(100, (5, 15), (4, 5)), *MANY]


def eight(scheme: str, name: str, queue_bdps: int = 1) -> Workload:
    """Eight flows. Counted from 20 s on: NewReno takes 10 s to repair what slow start has lost."""
    queue = f"packets = {queue_bdps * packets(100, 20)}"
    text = scenario(scheme, link(100, queue=queue), 8)
    return Workload(f"{scheme}, 8 flows{name}", text, (5, 305), (20, 30))


def clean(scheme: str) -> Workload:
    return eight(scheme, ", no loss")


def lossy(scheme: str) -> Workload:
    text = scenario(scheme, link(100, more='loss = { packet = "1%" }'))
    return Workload(f"{scheme}, 1 flow, 1 % loss", text, (10, 2010), (10, 60))


WIRELESS = link(100, 4, more='loss = { packet = "0.1%" }', name="wireless")
THREE_LINKS = link(1000, 4, name="core") + link(200, 12, name="access") + link(100, 4, name="last")


def wired_and_wireless(scheme: str) -> Workload:
    text = scenario(scheme, link(1000, 16, name="wired") + WIRELESS, 8)
    return Workload(f"{scheme}, 8 flows, two links", text, (5, 305), (5, 10))


def dumbbell(scheme: str, senders: int) -> Workload:
    """Over three hops: a link of each sender's own, with 1 to 9 ms, the shared one, and one behind it."""
    ends = [
        ("left", "right", link(100, 20, name="shared")),
        ("right", "receiver", link(1000, 2, name="last")),
    ]
    links = "".join(
        each.replace("rate", f'from = "{begin}"\nto = "{end}"\nrate', 1) for begin, end, each in ends
    )
    access = ", ".join(f'{{ delay = "{1 + sender % 9}ms", rate = "100Mbit/s" }}' for sender in range(senders))
    text = scenario(scheme, links, senders, stagger_s=0.3)
    text += f'from = "left"\nto = "receiver"\naccess = [{access}]\n'
    return Workload(f"{scheme}, a dumbbell of {senders} senders", text, (5, 105), (5, 10))


def wifi(stations: int, ampdu: int) -> Workload:
    """Stations that send to their access point, each with one flow; the channel is full."""
    links = f'[[medium]]\nname = "air"\nampdu = {ampdu}\n'
    for station in range(stations):
        links += (
            f'[[link]]\nfrom = "station{station}"\nto = "ap"\nmedium = "air"\nqueue = {{ packets = 50 }}\n'
            f'[[flow]]\nfrom = "station{station}"\nto = "ap"\n'
        )
    text = f'schemes = ["cubic"]\nduration = "10s"\n{links}'
    frames = "in aggregates" if ampdu else "one by one"
    return Workload(f"cubic, Wi-Fi, {stations} stations, frames {frames}", text, (5, 205), (5, 15))


def lte(users: int) -> Workload:
    """Users of a cell of 5 MHz, who download; it is full."""
    links = '[[medium]]\nname = "cell"\nkind = "lte"\nbandwidth_mhz = 5\nrlc = "um"\n'
    for user in range(users):
        links += (
            f'[[link]]\nfrom = "enb"\nto = "ue{user}"\nmedium = "cell"\nue = {{ sinr_db = 20 }}\n'
            f'queue = {{ bytes = "150kB" }}\n[[flow]]\nfrom = "enb"\nto = "ue{user}"\n'
        )
    text = f'schemes = ["cubic"]\nduration = "10s"\n{links}'
    return Workload(f"cubic, LTE, {users} users", text, (5, 205), (5, 15))


OTHERS = [
    *(make(scheme) for scheme in ("reno", "newreno", "cubic") for make in (clean, lossy)),
    clean("reno:pacing=true"),
    eight("bbr", ", no loss, 4 BDPs of queue", queue_bdps=4),
    eight("bbr", " that overflow 1 BDP of queue"),
    lossy("bbr"),
    *map(wired_and_wireless, ("cubic", "cubic+packet-control")),
    Workload("cubic, 8 flows over three links", scenario("cubic", THREE_LINKS, 8), (5, 305), (5, 10)),
    dumbbell("cubic", 100),
    *(wifi(stations, ampdu) for ampdu in (0, 65_535) for stations in (10, 50)),
    lte(5),
    Workload("cubic+decoupling, 8 flows", scenario("cubic+decoupling", link(100), 8), (5, 305), (5, 10)),
]
"""Schemes in profile linux on 100 Mbit/s and 20 ms, and the rooms that a packet can go through."""

LARGE = [crowd_on_linux(flows) for flows in (10_000, 100_000)]
"""How the cost of a packet grows with the flows; 8 % are lost. Not counted, and not in the smoke test."""

RATES_MBPS = (10, 100, 1000)


def grown(name: str, text: str, rate_mbps: int) -> Workload:
    """From 5 s on, 600 000 packets, and five seconds at least; a twelfth of it for instructions."""
    span_s = max(5.0, 600_000 * 1500 * 8 / (rate_mbps * 1e6))
    return Workload(name, text, (5, 5 + span_s), (5, 5 + max(1.25, span_s / 12)))


def overtaking(rate_mbps: int) -> Workload:
    jitter = 'jitter = { distribution = "uniform", high = "50ms", overtaking = true }'
    text = scenario(f"bbr:{ROOMY}", link(rate_mbps, 200, more=jitter))
    return grown("bbr, 200 ms, overtaking within 50 ms", text, rate_mbps)


def lossy_rfc(rate_mbps: int) -> Workload:
    text = scenario("bbr:profile=rfc:receive_window=1GB", link(rate_mbps, more='loss = { packet = "1%" }'))
    return grown("bbr:profile=rfc, 1 % loss", text, rate_mbps)


def overshoot(rate_mbps: int) -> Workload:
    """Slow start ends in a queue of four BDPs. That is the difference; as many runs as it takes."""
    queue = f"packets = {4 * packets(rate_mbps, 20)}"
    seeds = 2000 // rate_mbps
    text = scenario(f"cubic:slow_start=classic:{ROOMY}", link(rate_mbps, 20, queue), seeds=seeds)
    return Workload("cubic, the first overshoot", text, (0.1, 1.1), (0.1, 0.6))


def spikes(rate_mbps: int) -> Workload:
    """What leaves during one is overtaken by what follows."""
    more = 'spikes = { period = "500ms", length = "10ms", extra = "300ms" }'
    text = scenario(f"cubic:{ROOMY}", link(rate_mbps, more=more))
    return grown("cubic, delay spikes", text, rate_mbps)


def fq_codel(rate_mbps: int) -> Workload:
    text = scenario(f"cubic:{ROOMY}", link(rate_mbps, queue='discipline = "fq-codel"'), 10)
    return grown("cubic, 10 flows, FQ-CoDel", text, rate_mbps)


GROWTH = [overtaking, lossy_rfc, overshoot, spikes, fq_codel]
"""By rate: what once grew with the window."""
