"""Reliable decoupling sockets on a lossy link: §6 and §8 of paper 000."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TypeVar

from airtcp_studies.frame import (
    Case,
    Context,
    OpenParameter,
    Result,
    Row,
    Runs,
    SweepPlot,
    Tried,
    absolute,
    claim,
    experiment,
    gain,
    gain_of,
    info,
)
from airtcp_studies.papers.decoupling.paths import (
    BSD,
    BUFFERS,
    DECOUPLED,
    DEFAULT_BUFFERS,
    DEFAULT_WINDOW,
    HEADER_BYTES,
    MTU_BYTES,
    STACK,
    TIMER,
    TUNNEL_QUEUE,
    WINDOW,
)

K = TypeVar("K", float, int, str)


def papers_schemes(window: str) -> dict[str, str]:
    """As in the testbed, with these socket buffers."""
    stack = f"{BSD}:{window}"
    return {
        "Reno": f"reno:{stack}",
        "SACK": f"sack:profile=bsd-1998:timestamps=true:{window}",
        "decoupling": f"reno:{stack}+{DECOUPLED}",
    }


DEFAULT = papers_schemes(DEFAULT_WINDOW)
LARGE = papers_schemes(WINDOW)
DECOUPLING = LARGE["decoupling"]
TODAYS = {
    "Reno, today's timers": "reno",
    "SACK, today's timers": "sack",
    "decoupling, today's timers": f"reno+{DECOUPLED}",
}
BEYOND = {
    "decoupling, SACK in its control TCPs": f"{DEFAULT['SACK']}+{DECOUPLED}",
    "CUBIC": "cubic",
    "BBR": "bbr",
}
OTHER_RENOS = {
    "buffers of 240 KB": LARGE["Reno"],
    "buffers of 8 KB, as in Windows 98": f"reno:{BSD}:receive_window=8192B",
    "an RTO floor of three ticks": f"{DEFAULT['Reno']}:rto.min=1.5s",
    "RFC 2581's recovery": f"{DEFAULT['Reno']}:recovery=reno",
}

LOSSY = """
name = "lossy Ethernet"
duration = "100s"
[[link]]
name = "wireless"
rate = "10Mbit/s"
delay = "5ms"
loss = { ber = 2e-6, first_order = true }
queue = { packets = 50 }
[[flow]]
name = "user"
count = 2
stagger = "500ms"
"""
LINK_KBPS = 1250.0
"""10 Mbit/s in KB/s."""
PAYLOAD = (MTU_BYTES - HEADER_BYTES) / MTU_BYTES

ERRORS = OpenParameter(
    "bit errors",
    "on both directions, PER = BER · 8 · size",
    "the paper's first-order form; ACKs cross the same link and are corrupted, too",
)
QUEUE = OpenParameter("queue", "FIFO, 50 packets", "as in §4.8.2; §8 does not say")


def upper_bound(ber: float) -> float:
    """§8.2: the link's payload rate less bit errors, in KB/s."""
    return LINK_KBPS * PAYLOAD * (1 - ber * 8 * MTU_BYTES)


@experiment(
    "D3",
    where="§8.2, Fig 10",
    title="Goodput against the bit error rate",
    parameters=(STACK, DEFAULT_BUFFERS, TUNNEL_QUEUE, TIMER, ERRORS, QUEUE),
    seeds=10,
)
def d3(ctx: Context) -> Result:
    """Two user connections share a lossy 10 Mbit/s link for 100 s, RTT 10 ms, data packets of 1500 B, header
    packets of 52 B; BER from 1e-7 to 25e-7. The paper's gains are over the Reno of 1998: its timers here, and
    today's beside."""
    rates = ctx.pick([1e-7, 2e-7, 5e-7, 10e-7, 15e-7, 20e-7, 25e-7], quick=[1e-7, 20e-7])
    curves = DEFAULT | TODAYS
    found = sweep(ctx, curves, {ber: {"link.wireless.loss.ber": ber} for ber in rates})
    beside = BEYOND | LARGE | OTHER_RENOS | {"SACK in control": f"{LARGE['SACK']}+{DECOUPLED}"}
    others = sweep(ctx, beside, {ber: {"link.wireless.loss.ber": ber} for ber in (1e-7, 20e-7)})
    large, more = _goodputs(others[1e-7], beside), _goodputs(others[20e-7], beside)
    ahead = {ber: _goodputs(runs, curves) for ber, runs in found.items()}
    clean, worst = ahead[1e-7], ahead[20e-7]
    lossy = [ber for ber in rates if ber >= 10e-7]
    rows: list[Row] = [
        absolute(
            "Reno at BER 20e-7",
            250,
            worst["Reno"],
            "KB/s",
            tried=[Tried(setting, more[setting]) for setting in OTHER_RENOS],
        ),
        gain(
            "decoupling over Reno at 20e-7",
            350,
            gain_of(worst["decoupling"], worst["Reno"]),
            note=f"over 250 KB/s the bound of {upper_bound(20e-7):.0f} KB/s allows {BOUND_GAIN:.0f} %.",
        ),
        gain("decoupling over Reno at 1e-7", -3, gain_of(clean["decoupling"], clean["Reno"])),
        info(
            "… with buffers of 240 KB, which fill the queue",
            gain_of(large["decoupling"], large["Reno"]),
            "%",
            paper=-3,
        ),
        info(
            "… and with SACK in the control TCPs",
            gain_of(large["SACK in control"], large["Reno"]),
            "%",
            paper=-3,
        ),
        claim(
            "decoupling beats Reno and SACK wherever bit errors matter (from 10e-7 on)",
            all(
                fmean(ahead[ber]["decoupling"]) > max(fmean(ahead[ber]["Reno"]), fmean(ahead[ber]["SACK"]))
                for ber in lossy
            ),
            evidence=_evidence(ahead, lossy),
        ),
        claim(
            "SACK beats Reno, and falls with it",
            fmean(worst["Reno"]) < fmean(worst["SACK"]) < 0.6 * fmean(clean["SACK"]),
            evidence=f"SACK {fmean(clean['SACK']):.0f} KB/s at 1e-7, {fmean(worst['SACK']):.0f} at 20e-7",
        ),
        info("decoupling at 20e-7", worst["decoupling"], "KB/s"),
        info("upper bound there", upper_bound(20e-7), "KB/s"),
        info("decoupling over Reno there, buffers of 240 KB", gain_of(more["decoupling"], more["Reno"]), "%"),
    ]
    rows += [info(f"{name} at 20e-7", worst[name], "KB/s") for name in TODAYS]
    rows += [info(f"{name} at 20e-7", more[name], "KB/s") for name in BEYOND]
    plot = SweepPlot(
        "bit error rate",
        "goodput [KB/s]",
        _curves(ahead),
        caption="Goodput of two connections together, against the bit error rate (paper 000, Fig 10)",
        bounds={"upper bound": {ber: upper_bound(ber) for ber in rates}},
        quoted={"Reno": {20e-7: 250}},
    )
    return Result(rows=rows, figures={"fig10": plot})


BOUND_GAIN = 100 * (upper_bound(20e-7) / 250 - 1)


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
    ahead = {rtt: _goodputs(runs, curves) for rtt, runs in found.items()}
    at_100 = ahead[100]
    at = {"link.wireless.delay": "50ms"}
    beside = sweep(ctx, BUFFERED, {"two": at, "one": at | {"flow.user.count": 1}})
    two, one = (_goodputs(beside[count], BUFFERED) for count in ("two", "one"))
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
            all(
                fmean(each["decoupling"]) > max(fmean(each["Reno"]), fmean(each["SACK"]))
                for each in ahead.values()
            ),
            evidence=_evidence(ahead, rtts_ms, " ms"),
        ),
        claim(
            "goodput falls as the RTT rises",
            fmean(ahead[rtts_ms[-1]]["decoupling"]) < fmean(ahead[rtts_ms[0]]["decoupling"]),
            evidence=", ".join(f"{rtt:g} ms: {fmean(each['decoupling']):.0f}" for rtt, each in ahead.items()),
        ),
        info("decoupling over Reno at 100 ms", gain_of(at_100["decoupling"], at_100["Reno"]), "%"),
    ]
    rows += [info(f"{name} at 100 ms", at_100[name], "KB/s") for name in curves if name != "decoupling"]
    plot = SweepPlot(
        "round trip time [ms]",
        "goodput [KB/s]",
        _curves(ahead),
        caption="Goodput of two connections together, against the RTT, at BER 2e-6 (paper 000, Fig 11)",
        bounds={"link": {rtt: upper_bound(2e-6) for rtt in rtts_ms}},
        quoted={"decoupling": {100: 560}},
    )
    return Result(rows=rows, figures={"fig11": plot})


def sweep(
    ctx: Context, schemes: Mapping[str, str], points: Mapping[K, Mapping[str, object]]
) -> dict[K, Runs]:
    duration = {"duration": ctx.pick("100s", quick="5s")}
    return ctx.sweep(
        {point: Case(LOSSY, tuple(schemes.values()), duration | dict(sets)) for point, sets in points.items()}
    )


def _goodputs(runs: Runs, schemes: Mapping[str, str]) -> dict[str, list[float]]:
    return {name: runs.goodput(text, "KB/s") for name, text in schemes.items()}


def _curves(found: Mapping[float, Mapping[str, list[float]]]) -> dict[str, dict[float, list[float]]]:
    names = next(iter(found.values()))
    return {name: {point: goodputs[name] for point, goodputs in found.items()} for name in names}


def _evidence(
    found: Mapping[float, Mapping[str, list[float]]], points: Sequence[float], unit: str = ""
) -> str:
    return "; ".join(
        f"{point:g}{unit}: " + ", ".join(f"{name} {fmean(found[point][name]):.0f}" for name in DEFAULT)
        for point in points
    )
