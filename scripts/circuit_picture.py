"""Draws docs/circuit.svg, the animation at the top of README: a lossy link without and with a TCP circuit.

    .venv/bin/python scripts/circuit_picture.py

Every packet in it comes from a run of the simulator: captures before and behind the link say when it left and
whether it arrived. The same airtcp draws the same bytes.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import airtcp

OUT = Path(__file__).parents[1] / "docs" / "circuit.svg"

RATE_BPS = 2e6
DELAY_S = 0.06
BER = 6e-6
SCHEMES = ("reno", "cubic+decoupling")
WINDOW_S = 0.9
EARLIEST_S, LATEST_S = 8.0, 40.0
SLOWER = 20
LOOP_S = WINDOW_S * SLOWER

WIDTH, LANE_HEIGHT, TOP = 880, 136, 46
LEFT, RIGHT = 128, 740
METER_STEPS = 60
METER_S = 0.15
DEATHS = (0.35, 0.5, 0.65, 0.8)
"""Positions on the link where a packet may be lost, as shares of it. The simulator knows the loss, not its
position."""

STYLE = """
:root{--ink:#1f2328;--soft:#59636e;--air:#eef3f8;--edge:#c8d1da;--data:#0072b2;--header:#b35c00;
--ack:#8b949e;--dead:#c4302b}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--air:#1a222c;--edge:#3a4450;
--data:#58b4e8;--header:#f0a23c;--ack:#6e7781;--dead:#ff6b63}}
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;fill:var(--ink)}
.name{font-size:15px;font-weight:600}.soft{fill:var(--soft)}.share{font-size:24px;font-weight:700}
.flash{fill:var(--dead);font-weight:600}
.air{fill:var(--air);stroke:var(--edge)}.node{fill:none;stroke:var(--soft);stroke-width:1.5}
.d{fill:var(--data)}.h{fill:var(--header)}.a{fill:var(--ack)}.bar{fill:var(--data)}
.p{animation-duration:%(loop)ss;animation-timing-function:linear;animation-iteration-count:infinite;opacity:0;
transform-box:fill-box;transform-origin:center}
@media (prefers-reduced-motion:reduce){.p,.bar{animation-play-state:paused}}
"""


@dataclass(frozen=True)
class Packet:
    """One packet as captured at the link's near end. `leaves_s`: its first bit is sent."""

    kind: str
    leaves_s: float
    arrives_s: float
    is_lost: bool


@dataclass(frozen=True)
class Lane:
    """One scheme's run."""

    packets: list[Packet]
    reductions_s: list[float]
    share: float


@dataclass(frozen=True)
class Frame:
    """A packet in a capture."""

    time_s: float
    is_forward: bool
    length: int
    has_payload: bool
    raw: bytes


def main() -> None:
    lanes = [lane(scheme) for scheme in SCHEMES]
    start_s = window(lanes[0])
    OUT.write_text(svg(lanes, start_s), encoding="utf-8")
    print(f"{OUT}: {OUT.stat().st_size / 1e3:.0f} kB")


def lane(scheme: str) -> Lane:
    """Runs the scheme twice with the same seed, once for each capture."""
    air = {"name": "air", "rate": f"{RATE_BPS:.0f}bit/s", "delay": f"{DELAY_S}s", "loss": {"ber": BER}}
    host = {"name": "host", "rate": "1Gbit/s", "delay": "0ms"}
    scenario = airtcp.Scenario.build(schemes=[scheme], link=[air, host], duration="60s", warmup="5s")
    with tempfile.TemporaryDirectory() as folder:
        before, behind = Path(folder, "before.pcapng"), Path(folder, "behind.pcapng")
        found = airtcp.run(scenario, scheme, pcap=before, pcap_link="air", interval_s=0.0)
        airtcp.run(scenario, scheme, pcap=behind, pcap_link="host", series=False)
        packets = list(fates(list(frames(before.read_bytes())), list(frames(behind.read_bytes()))))
    cwnd = found.series.select("time_s", "cwnd_bytes").rows()
    fallen = [now[0] for old, now in pairwise(cwnd) if now[1] < 0.75 * old[1]]
    share = found.flows["goodput_bps"][0] / RATE_BPS
    return Lane(packets, fallen, share)


def frames(capture: bytes) -> Iterator[Frame]:
    """Yields the packets of a pcapng file: enhanced packet blocks with nanoseconds and a direction."""
    at = 0
    while at < len(capture):
        kind, size = struct.unpack_from("<II", capture, at)
        if kind == 6:
            _, high, low, captured, length = struct.unpack_from("<IIIII", capture, at + 8)
            raw = capture[at + 28 : at + 28 + captured]
            option = at + 28 + (captured + 3) // 4 * 4
            code, _, flags = struct.unpack_from("<HHI", capture, option)
            headers = (raw[0] & 15) * 4 + (raw[32] >> 4) * 4
            yield Frame((high << 32 | low) / 1e9, code == 2 and flags & 3 == 2, length, length > headers, raw)
        at += size


def fates(before: Sequence[Frame], behind: Sequence[Frame]) -> Iterator[Packet]:
    """Yields the fate of each packet: one missing behind the link was lost on it."""
    arrived = iter([frame for frame in behind if frame.is_forward])
    due = next(arrived, None)
    free_s = 0.0
    for frame in (frame for frame in before if frame.is_forward):
        leaves_s = max(frame.time_s, free_s)
        free_s = leaves_s + frame.length * 8 / RATE_BPS
        is_lost = due is None or due.raw != frame.raw
        if not is_lost:
            due = next(arrived, None)
        yield Packet("d" if frame.has_payload else "h", leaves_s, free_s + DELAY_S, is_lost)
    came = iter([frame for frame in before if not frame.is_forward])
    due = next(came, None)
    for frame in (frame for frame in behind if not frame.is_forward):
        is_lost = due is None or due.raw != frame.raw
        if not is_lost:
            due = next(came, None)
        yield Packet("a", frame.time_s, frame.time_s + DELAY_S + frame.length * 8 / RATE_BPS, is_lost)


def window(reno: Lane) -> float:
    """Returns the start of the interval in which Reno halves its window most often, as late in it as
    possible."""

    def halvings(start_s: float) -> int:
        return sum(start_s + 0.1 <= at < start_s + WINDOW_S - 0.1 for at in reno.reductions_s)

    starts = [at - 0.3 for at in reno.reductions_s if EARLIEST_S <= at <= LATEST_S]
    return max(starts, key=lambda start_s: (min(halvings(start_s), 2), -start_s))


def svg(lanes: Sequence[Lane], start_s: float) -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {TOP + 2 * LANE_HEIGHT + 44}" '
        'role="img" aria-labelledby="t">',
        '<title id="t">Packets of Reno and of a TCP circuit on the same lossy link</title>',
        f"<style>{STYLE % {'loop': f'{LOOP_S:g}'}}{motions()}</style>",
        legend(),
    ]
    words = (
        ("Reno", "takes every corrupted packet for congestion", "window halved"),
        ("CUBIC in a TCP circuit", "tiny header packets carry the congestion control", ""),
    )
    for place, (each, said) in enumerate(zip(lanes, words, strict=True)):
        parts.append(
            f'<g transform="translate(0 {TOP + place * LANE_HEIGHT})">{scene(each, said, start_s)}</g>'
        )
    foot = TOP + 2 * LANE_HEIGHT + 26
    parts.append(
        f'<text class="soft" x="{LEFT - 76}" y="{foot}">{RATE_BPS / 1e6:g} Mbit/s, {2e3 * DELAY_S:g} ms '
        f"round trip, {100 * (1 - (1 - BER) ** 12000):.0f} % of full packets corrupted, at 1/{SLOWER} "
        "speed. Every packet comes from a simulator run.</text></svg>\n"
    )
    return "".join(parts)


def motions() -> str:
    """Returns one motion for each kind of packet and place of loss; packets differ in its start."""
    rules = []
    for kind, bits, colour in (("d", 12000, "data"), ("h", 416, "header"), ("a", 416, "ack")):
        flight = 100 * (DELAY_S + bits / RATE_BPS) / WINDOW_S
        one, other = (LEFT, RIGHT) if kind != "a" else (RIGHT, LEFT)
        rules.append(
            f"@keyframes {kind}{{0%{{transform:translateX({one}px);opacity:1}}"
            f"{flight:.2f}%{{transform:translateX({other}px);opacity:1}}"
            f"{flight + 0.01:.2f}%,to{{transform:translateX({other}px);opacity:0}}}}"
        )
        for number, share in enumerate(DEATHS):
            x = one + (other - one) * share
            dies, gone = flight * share, flight * share + 5
            rules.append(
                f"@keyframes {kind}x{number}{{0%{{transform:translateX({one}px);opacity:1}}"
                f"{dies:.2f}%{{transform:translateX({x:.0f}px);opacity:1;fill:var(--{colour})}}"
                f"{dies + 0.01:.2f}%{{transform:translateX({x:.0f}px) scale(1.4);opacity:1;fill:var(--dead)}}"
                f"{gone:.2f}%{{transform:translate({x:.0f}px,34px) rotate(50deg);opacity:0;fill:var(--dead)}}"
                f"to{{transform:translate({x:.0f}px,34px);opacity:0}}}}"
            )
    rules.append("@keyframes say{0%,9%{opacity:1}11%,to{opacity:0}}")
    return "".join(rules)


def scene(each: Lane, said: tuple[str, str, str], start_s: float) -> str:
    name, what, flash = said
    parts = [
        f'<text x="{LEFT}" y="16"><tspan class="name">{name}</tspan>',
        f'<tspan class="soft" dx="10">{what}</tspan></text>',
        f'<rect class="air" x="{LEFT}" y="26" width="{RIGHT - LEFT}" height="76" rx="6"/>',
        f'<rect class="node" x="{LEFT - 76}" y="42" width="62" height="44" rx="6"/>',
        f'<text x="{LEFT - 45}" y="69" text-anchor="middle">sender</text>',
        f'<rect class="node" x="{RIGHT + 14}" y="42" width="62" height="44" rx="6"/>',
        f'<text x="{RIGHT + 45}" y="69" text-anchor="middle">receiver</text>',
    ]
    shapes = {
        "d": '<rect class="p d" x="-7" y="44" width="14" height="18" rx="2"',
        "h": '<circle class="p h" cy="76" r="4"',
        "a": '<circle class="p a" cy="91" r="2.5"',
    }
    lost = 0
    for packet in each.packets:
        if not start_s <= packet.leaves_s < start_s + WINDOW_S:
            continue
        motion = packet.kind
        if packet.is_lost:
            motion += f"x{lost * 7 % len(DEATHS)}"
            lost += 1
        parts.append(f'{shapes[packet.kind]} style="{begins(motion, packet.leaves_s - start_s)}"/>')
    for at_s in each.reductions_s if flash else ():
        if start_s <= at_s < start_s + WINDOW_S:
            style = begins("say", at_s - start_s)
            parts.append(
                f'<text class="p flash" x="{RIGHT}" y="16" text-anchor="end" style="{style}">{flash}</text>'
            )
    return "".join(parts) + meter(each, start_s)


def begins(motion: str, after_s: float) -> str:
    """Returns a negative delay, so that packets in flight at the end of the loop continue at its start."""
    return f"animation-name:{motion};animation-delay:{SLOWER * after_s - LOOP_S:.2f}s"


def meter(each: Lane, start_s: float) -> str:
    """Draws the share of the link's rate that has arrived recently, as a moving bar."""
    steps = []
    for step in range(METER_STEPS + 1):
        now_s = start_s + WINDOW_S * (step % METER_STEPS) / METER_STEPS
        came = sum(
            p.kind == "d" and not p.is_lost and now_s - METER_S < p.arrives_s <= now_s for p in each.packets
        )
        steps.append(min(came * 12000 / METER_S / RATE_BPS, 1.0))
    frames = "".join(
        f"{100 * n / METER_STEPS:.1f}%{{transform:scaleY({s:.2f})}}" for n, s in enumerate(steps)
    )
    name = f"m{round(each.share * 1e4)}"
    return (
        f"<style>@keyframes {name}{{{frames}}}</style>"
        f'<rect class="air" x="{RIGHT + 96}" y="26" width="14" height="76" rx="3"/>'
        f'<rect class="bar" x="{RIGHT + 96}" y="26" width="14" height="76" rx="3" style="'
        f'transform-box:fill-box;transform-origin:bottom;animation:{name} {LOOP_S:g}s linear infinite"/>'
        f'<text class="share" x="{RIGHT + 45}" y="34" text-anchor="middle">{100 * each.share:.0f} %</text>'
        f'<text class="soft" x="{RIGHT + 45}" y="103" text-anchor="middle">of the link</text>'
    )


def legend() -> str:
    marks = (
        ('<rect class="d" x="{x}" y="12" width="11" height="14" rx="2"/>', "data packet, 1500 B"),
        ('<circle class="h" cx="{x5}" cy="19" r="4"/>', "header packet, 52 B"),
        ('<circle class="a" cx="{x5}" cy="19" r="2.5"/>', "ACK"),
        (
            '<rect x="{x}" y="12" width="11" height="14" rx="2" style="fill:var(--dead)"/>',
            "corrupted in the air",
        ),
    )
    x, parts = LEFT, []
    for mark, text in marks:
        parts.append(mark.format(x=x, x5=x + 5) + f'<text class="soft" x="{x + 18}" y="24">{text}</text>')
        x += 40 + 7 * len(text)
    return "".join(parts)


if __name__ == "__main__":
    main()
