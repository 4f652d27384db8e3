"""P4: what the paper leaves for future work."""

from __future__ import annotations

from airtcp_studies.frame import Case, Context, Result, Row, SweepPlot, claim, experiment, gain_of, info
from airtcp_studies.papers.packet_control.path import NONE, PARAMETERS, STEADY, VARYING, filtered, goodput

CONNECTIONS = (1, 2, 5, 10)
IN_ORDER = VARYING.replace('distribution = "table"', 'distribution = "table", overtaking = false')
HAND_OFFS = {"link.wireless.outages": '{every = "10s", length = "300ms", handoff = true}'}
HANDED = "one connection, hand-offs and a constant delay"
OTHER_LINKS = {
    "one connection, packets delivered in order": (IN_ORDER, {}),
    "one connection, a hand-off of 300 ms about every 10 s": (VARYING, HAND_OFFS),
    HANDED: (STEADY, HAND_OFFS),
}
TODAY = "cubic:profile=linux"


@experiment(
    "P4",
    where="§VIII, future work",
    title="Many connections, hand-offs, and a stack of today",
    parameters=PARAMETERS[:-1],
    seeds=20,
)
def p4(ctx: Context) -> Result:
    """The path of P1 with 1 to 10 transfers of 60 s at once, all through one base station; Linux's stack,
    which finds losses by SACK and time instead of counting ACKs; and one transfer where the link keeps
    packets in order, as those with local retransmission do, or hands off to another base station and loses
    what is on its way."""
    schemes = (NONE, filtered(9), filtered(12), TODAY, f"{TODAY}+packet-control:threshold=12")
    counts = ctx.pick(CONNECTIONS, quick=(1, 5))
    flow = {"duration": ctx.pick("60s", quick="20s"), "warmup": "5s"}
    text = f'{VARYING}\n[[flow]]\nname = "main"\n'
    found = ctx.sweep({n: Case(text, schemes, flow | {"flow.main.count": n}) for n in counts})
    elsewhere = ctx.sweep(
        {
            name: Case(text, (NONE, filtered(9), filtered(12)), {"duration": flow["duration"], **sets})
            for name, (text, sets) in OTHER_LINKS.items()
        }
    )
    most = found[counts[-1]]
    rows: list[Row] = [
        info(
            f"{name}, {n} connection{'s' if n > 1 else ''}",
            gain_of(goodput(runs, scheme), goodput(runs, base)),
            "%",
        )
        for n, runs in found.items()
        for name, scheme, base in (
            ("threshold 12 over none", filtered(12), NONE),
            ("Linux's stack with threshold 12 over without", schemes[-1], TODAY),
        )
    ]
    rows += [
        info(
            f"threshold {t} over none, {name}", gain_of(goodput(runs, filtered(t)), goodput(runs, NONE)), "%"
        )
        for name, runs in elsewhere.items()
        for t in (9, 12)
    ]
    handed = {
        t: gain_of(goodput(elsewhere[HANDED], filtered(t)), goodput(elsewhere[HANDED], NONE)).mean
        for t in (9, 12)
    }
    rows.append(
        claim(
            "packet control does not adversely affect hand-offs (§V.C)",
            min(handed.values()) >= 0,
            evidence="with a constant delay: "
            + ", ".join(f"threshold {t}: {gained:+.1f} %" for t, gained in handed.items()),
        )
    )
    rows.append(
        info(
            f"Jain's index of {counts[-1]} connections with threshold 12",
            [run["jain_index"] or 0.0 for run in most.of(filtered(12))],
        )
    )
    names = {
        "Reno": NONE,
        "Reno, threshold 9": filtered(9),
        "Reno, threshold 12": filtered(12),
        "Linux": TODAY,
        "Linux, threshold 12": schemes[-1],
    }
    figure = SweepPlot(
        "connections",
        "goodput of all [kbit/s]",
        {name: {n: goodput(runs, scheme) for n, runs in found.items()} for name, scheme in names.items()},
        caption="Packet control with several connections, and with a stack that does not count ACKs",
    )
    notes = (
        "Where connections fill the link together, there is nothing left to gain, nor is there where the "
        "link keeps packets in order. A sender with SACK counts segments above the hole, not ACKs: the first "
        "duplicate that passes shows it all of them.",
    )
    return Result(rows=rows, figures={"connections": figure}, notes=notes)
