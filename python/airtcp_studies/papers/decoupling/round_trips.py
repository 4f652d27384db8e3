"""Goodput against the round trip time: §8.3 of paper 000."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from airtcp_studies.frame import (
    Context,
    Result,
    Row,
    SweepPlot,
    Tried,
    absolute,
    claim,
    experiment,
    gain_of,
    info,
)
from airtcp_studies.papers.decoupling.bounds import Near, bound_over_rtt, near_bound
from airtcp_studies.papers.decoupling.lossy import (
    ERRORS,
    LARGE,
    QUEUE,
    TODAYS,
    curves_of,
    evidence_of,
    goodputs,
    is_first,
    sweep,
)
from airtcp_studies.papers.decoupling.paths import BSD, BUFFERS, DECOUPLED, STACK, TIMER, TUNNEL_QUEUE

BUFFERED = {
    size: f"reno:{BSD}:receive_window={window}+{DECOUPLED}"
    for size, window in {
        "16 KB": "16384B",
        "64 KB": "65535B",
        "240 KB": "245760B:window_scaling=true",
        "1 MB": "1MB:window_scaling=true",
    }.items()
}
"""Decoupling by the size of the hosts' socket buffers; FreeBSD 2.2 does not grant 1 MB."""


@experiment(
    "D4",
    where="§8.3, Fig 11",
    title="Goodput against the round trip time",
    parameters=(STACK, BUFFERS, TUNNEL_QUEUE, TIMER, ERRORS, QUEUE),
    seeds=5,
)
def d4(ctx: Context) -> Result:
    """As D3, with BER 2e-6 and RTTs from 10 to 200 ms."""
    rtts_ms = ctx.pick([10.0, 20.0, 50.0, 100.0, 150.0, 200.0], quick=[10.0, 100.0])
    curves = LARGE | TODAYS
    found = sweep(ctx, curves, {rtt: {"link.wireless.delay": f"{rtt / 2}ms"} for rtt in rtts_ms})
    ahead = {rtt: goodputs(runs, curves) for rtt, runs in found.items()}
    at_100 = ahead[100]
    at = {"link.wireless.delay": "50ms"}
    beside = sweep(ctx, BUFFERED, {"two": at, "one": at | {"flow.user.count": 1}})
    two, one = (goodputs(beside[count], BUFFERED) for count in ("two", "one"))
    near = near_bound({rtt: each["decoupling"] for rtt, each in ahead.items()})
    bounded = bound_tried(ctx, ctx.pick(rtts_ms, quick=rtts_ms[:1]))
    rows: list[Row] = [
        absolute(
            "decoupling at 100 ms",
            560,
            at_100["decoupling"],
            "KB/s",
            note="the paper's bound of 615 KB/s is eq (3) for one connection, its goodput that of two.",
        ),
        *(
            info(f"… with buffers of {size}", two[size], "KB/s", paper=560)
            for size in BUFFERED
            if size != "240 KB"
        ),
        info("… one connection alone", one["240 KB"], "KB/s", paper=560),
        info("… one connection alone, with buffers of 1 MB", one["1 MB"], "KB/s", paper=560),
        claim(
            "decoupling beats Reno and SACK at every RTT",
            is_first(ahead, rtts_ms),
            evidence=evidence_of(ahead, rtts_ms, " ms"),
        ),
        claim(
            "goodput falls as the RTT rises",
            fmean(ahead[rtts_ms[-1]]["decoupling"]) < fmean(ahead[rtts_ms[0]]["decoupling"]),
            evidence=", ".join(f"{rtt:g} ms: {fmean(each['decoupling']):.0f}" for rtt, each in ahead.items()),
        ),
        claim(
            "decoupling comes near the upper bound at every RTT, and stays below",
            near.holds,
            evidence=near.evidence,
            tried=[
                Tried(name, holds=other.holds, evidence=other.evidence) for name, other in bounded.items()
            ],
        ),
        info("decoupling over Reno at 100 ms", gain_of(at_100["decoupling"], at_100["Reno"]), "%"),
    ]
    rows += [info(f"{name} at 100 ms", at_100[name], "KB/s") for name in curves if name != "decoupling"]
    plot = SweepPlot(
        "round trip time [ms]",
        "goodput [KB/s]",
        curves_of(ahead),
        caption="Goodput of two connections together, against the RTT, at BER 2e-6 (paper 000, Fig 11)",
        bounds={"upper bound": {rtt: bound_over_rtt(rtt) for rtt in rtts_ms}},
        quoted={"decoupling": {100: 560}},
    )
    return Result(rows=rows, figures={"fig11": plot})


def bound_tried(ctx: Context, rtts_ms: Sequence[float]) -> dict[str, Near]:
    """Returns the same for connections alone, for which eq (3) is, and for larger buffers."""
    schemes = {size: BUFFERED[size] for size in ("240 KB", "1 MB")}
    found = {
        count: sweep(
            ctx,
            schemes,
            {rtt: {"link.wireless.delay": f"{rtt / 2}ms", "flow.user.count": count} for rtt in rtts_ms},
        )
        for count in (1, 2)
    }
    names = {
        "one connection alone": (1, "240 KB"),
        "one connection alone, buffers of 1 MB": (1, "1 MB"),
        "buffers of 1 MB": (2, "1 MB"),
    }
    return {
        name: near_bound({rtt: runs.goodput(schemes[size], "KB/s") for rtt, runs in found[count].items()})
        for name, (count, size) in names.items()
    }
