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
from airtcp_studies.papers.decoupling.bounds import gap, nearest_to_bound, upper_bound
from airtcp_studies.papers.decoupling.paths import (
    BSD,
    DECOUPLED,
    DEFAULT_BUFFERS,
    DEFAULT_WINDOW,
    HEADER_BYTES,
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
ERRORS = OpenParameter(
    "bit errors",
    "on both directions, PER = BER · 8 · size",
    "the paper's first-order form; ACKs cross the same link and are corrupted, too",
)
QUEUE = OpenParameter("queue", "FIFO, 50 packets", "as in §4.8.2; §8 does not say")


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
    large, more = goodputs(others[1e-7], beside), goodputs(others[20e-7], beside)
    ahead = {ber: goodputs(runs, curves) for ber, runs in found.items()}
    crossing = [] if ctx.quick else crossing_tried(ctx, ahead[CROSSING])
    clean, worst = ahead[1e-7], ahead[20e-7]
    lossy = [ber for ber in rates if ber >= CROSSING]
    stamped = {name for name, text in (curves | beside).items() if "timestamps=true" in text}
    every = [
        (ber, {name: values for name, values in each.items() if name in stamped})
        for ber, each in (*ahead.items(), (1e-7, large), (20e-7, more))
    ]
    timeouts = {name: timeout_share(found[20e-7], DEFAULT[name]) for name in ("Reno", "SACK")}
    repeats = gap(found[20e-7], DEFAULT["decoupling"])
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
            "decoupling beats Reno and SACK at every BER that is not “near 1e-7”, from 5e-7 on",
            is_first(ahead, lossy),
            evidence=evidence_of(ahead, lossy),
            tried=crossing,
        ),
        claim(
            "SACK beats Reno, and falls with it",
            fmean(worst["Reno"]) < fmean(worst["SACK"]) < 0.6 * fmean(clean["SACK"]),
            evidence=f"SACK {fmean(clean['SACK']):.0f} KB/s at 1e-7, {fmean(worst['SACK']):.0f} at 20e-7",
        ),
        claim(
            f"no scheme with headers of {HEADER_BYTES} B exceeds the upper bound",
            all(fmean(of) < upper_bound(ber) for ber, each in every for of in each.values()),
            evidence=nearest_to_bound(every),
        ),
        claim(
            "Reno often has to time out at 20e-7, SACK less often",
            timeouts["Reno"] > timeouts["SACK"],
            evidence=f"Reno {timeouts['Reno']:.0f}, SACK {timeouts['SACK']:.0f} of 100 reductions of cwnd",
        ),
        claim(
            "decoupling misses the upper bound because it repeats packets unnecessarily (at 20e-7)",
            repeats.is_cause,
            evidence=repeats.evidence,
            tried=[
                Tried(name, holds=other.is_cause, evidence=other.evidence)
                for name, other in {
                    "buffers of 240 KB": gap(others[20e-7], LARGE["decoupling"]),
                    "SACK in the control TCPs": gap(
                        others[20e-7], BEYOND["decoupling, SACK in its control TCPs"]
                    ),
                    "SACK in the control TCPs, buffers of 240 KB": gap(
                        others[20e-7], beside["SACK in control"]
                    ),
                    "hosts of today (profile linux)": gap(found[20e-7], TODAYS["decoupling, today's timers"]),
                }.items()
            ],
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
        curves_of(ahead),
        caption="Goodput of two connections together, against the bit error rate (paper 000, Fig 10)",
        bounds={"upper bound": {ber: upper_bound(ber) for ber in rates}},
        quoted={"Reno": {20e-7: 250}},
    )
    return Result(rows=rows, figures={"fig10": plot})


BOUND_GAIN = 100 * (upper_bound(20e-7) / 250 - 1)
CROSSING = 5e-7
"""The least BER here that is not “near 1e-7”, where the paper's Reno is ahead."""


def crossing_tried(ctx: Context, ahead: Mapping[str, list[float]]) -> list[Tried]:
    """Returns which scheme is first at [`CROSSING`], under other settings."""
    in_control = {**DEFAULT, "decoupling": f"{DEFAULT['SACK']}+{DECOUPLED}"}
    windows_98 = {**DEFAULT, "SACK": papers_schemes("receive_window=8192B")["SACK"]}
    settings = {
        "buffers of 240 KB": LARGE,
        "SACK in the control TCPs": in_control,
        "SACK with a window of 8 KB, Windows 98's default": windows_98,
    }
    at = {"link.wireless.loss.ber": CROSSING}
    schemes = tuple(dict.fromkeys(text for each in settings.values() for text in each.values()))
    runs = ctx.run(LOSSY, schemes, at | {"duration": "100s"}, seeds=5)
    found = {name: goodputs(runs, of) for name, of in settings.items()}
    found["hosts of today (profile linux)"] = {
        name: ahead[today] for name, today in zip(DEFAULT, TODAYS, strict=True)
    }
    return [
        Tried(
            name, holds=is_first({CROSSING: of}, [CROSSING]), evidence=evidence_of({CROSSING: of}, [CROSSING])
        )
        for name, of in found.items()
    ]


def timeout_share(runs: Runs, scheme: str) -> float:
    """Returns the timeouts in percent of the reductions of cwnd."""
    timeouts, reductions = (
        sum(runs.total(scheme, of))
        for of in (lambda flow: flow["timeouts"], lambda flow: flow["cwnd_reductions"])
    )
    return 100 * timeouts / max(1.0, reductions)


def sweep(
    ctx: Context, schemes: Mapping[str, str], points: Mapping[K, Mapping[str, object]]
) -> dict[K, Runs]:
    duration = {"duration": ctx.pick("100s", quick="5s")}
    return ctx.sweep(
        {point: Case(LOSSY, tuple(schemes.values()), duration | dict(sets)) for point, sets in points.items()}
    )


def goodputs(runs: Runs, schemes: Mapping[str, str]) -> dict[str, list[float]]:
    return {name: runs.goodput(text, "KB/s") for name, text in schemes.items()}


def is_first(found: Mapping[float, Mapping[str, list[float]]], points: Sequence[float]) -> bool:
    """Returns whether decoupling carries most at all of the points."""
    return all(
        fmean(found[at]["decoupling"]) > max(fmean(found[at]["Reno"]), fmean(found[at]["SACK"]))
        for at in points
    )


def curves_of(found: Mapping[float, Mapping[str, list[float]]]) -> dict[str, dict[float, list[float]]]:
    names = next(iter(found.values()))
    return {name: {point: goodputs[name] for point, goodputs in found.items()} for name in names}


def evidence_of(
    found: Mapping[float, Mapping[str, list[float]]], points: Sequence[float], unit: str = ""
) -> str:
    return "; ".join(
        f"{point:g}{unit}: " + ", ".join(f"{name} {fmean(found[point][name]):.0f}" for name in DEFAULT)
        for point in points
    )
