"""Paper 003, Fig 3: what a timeout resends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from airtcp.facts.stats import Estimate, estimate
from airtcp_studies.frame import (
    Context,
    Result,
    Runs,
    SweepPlot,
    Table,
    Tried,
    claim,
    experiment,
    gain,
    gain_of,
)
from airtcp_studies.papers.rto.setup import (
    LINKS,
    PARAMETERS,
    TRACE_A_PARAMETERS,
    TRACE_B_PARAMETERS,
    Method,
    Policy,
    Setting,
    behind_a_wire,
    case,
    mean,
    throughput,
    timeouts_of,
    vary,
)
from airtcp_studies.papers.rto.trace_a import NEWRENO, deviating

POLICIES: tuple[Policy, ...] = ("sr", "gbn")

HANDOFF_LINK = """
# Base station A hands the terminal over to B now and then.
[[link]]
name = "air"
rate = "384kbit/s"
delay = "150ms"
queue = {{ packets = 1000 }}
outages = {{ every = "10s", length = "300ms", handoff = true{forward} }}
"""

SETTINGS = {
    "deviation of a quarter of the mean": deviating(0.25),
    "deviation as large as the mean": deviating(1),
    "deviation twice the mean": deviating(2),
    "one timer for all packets": Setting(":rto.timers=connection"),
    "no back-off": Setting(":rto.backoff=false"),
    "NewReno, limited transmit": Setting(NEWRENO),
    "NewReno, deviation as large as the mean": deviating(1, NEWRENO),
    "duplicate ACKs ignored": Setting(":dupack_threshold=1000"),
    "delayed ACKs": Setting(":ack_every=2"),
    "timestamps": Setting(":timestamps=true:rto.timing=every-ack"),
}


@experiment(
    "R3",
    where="§V, Fig 3",
    title="Go-back-N against selective repeat",
    parameters=TRACE_A_PARAMETERS + TRACE_B_PARAMETERS + PARAMETERS,
    seeds=30,
)
def r3(ctx: Context) -> Result:
    """1 MB without loss: throughput of go-back-N over that of selective repeat, by the factor m."""
    factors = ctx.pick([2.0, 3, 4, 5, 6, 8, 10, 12, 15, 20], quick=[4.0, 10])
    points = {"A": factors, "B": ctx.pick([2.0, 4, 10], quick=[4.0])}
    metered = Method(policy="gbn in slow start")
    methods = {trace: [Method(m, p) for m in of for p in POLICIES] for trace, of in points.items()}
    found = ctx.sweep({"A": case(ctx, "A", [*methods["A"], metered]), "B": case(ctx, "B", methods["B"])})
    gains = {
        trace: {m: over_sr(found[trace], trace, Method(m, "gbn")) for m in of} for trace, of in points.items()
    }
    pairs = [Method(m, policy) for m in EARLY for policy in ("gbn", "sr")]
    variations = vary(ctx, "A", SETTINGS, pairs, [0.0], seeds=20)
    early = {name: gains_early(*of[0.0]) for name, of in variations.of(throughput).items()}
    varied = {name: of[0] for name, of in early.items()}
    counts = {name: tuple(map(mean, of[0.0][:2])) for name, of in variations.of(timeouts_of).items()}
    ours = tuple(mean(timeouts_of(found["A"], Method(policy=p).scheme("A"))) for p in ("gbn", "sr"))
    varied["resent in slow start"] = over_sr(found["A"], "A", metered)
    a, b = gains["A"], gains["B"]
    late = {m: found.mean for m, found in a.items() if m >= 9}
    return Result(
        rows=(
            gain(
                "GBN over SR, trace A, m = 4",
                12,
                a[4],
                tried=[Tried(name, found) for name, found in varied.items()],
            ),
            claim(
                "GBN is ahead for every m below 9, trace A",
                all(found.mean > 0 for m, found in a.items() if m < 9),
                evidence=", ".join(f"m = {m:g}: {found.mean:+.1f} %" for m, found in a.items() if m < 9),
                tried=[
                    Tried(
                        name,
                        holds=all(each.mean > 0 for each in found),
                        evidence=", ".join(
                            f"m = {m:g}: {each.mean:+.1f} %" for m, each in zip(EARLY, found, strict=True)
                        ),
                    )
                    for name, found in early.items()
                ],
            ),
            claim(
                "GBN avoids timeouts of the packets that follow, trace A, m = 4",
                ours[0] < ours[1],
                evidence=a_transfer(*ours),
                tried=[
                    Tried(name, holds=gbn < sr, evidence=a_transfer(gbn, sr))
                    for name, (gbn, sr) in counts.items()
                ],
            ),
            claim(
                "no difference from m = 9 on, trace A",
                all(abs(found) < 2 for found in late.values()),
                evidence=", ".join(f"m = {m:g}: {found:+.1f} %" for m, found in late.items()),
            ),
            claim(
                "SR is slightly ahead on trace B",
                all(found.mean < 0 for found in b.values()),
                evidence=", ".join(
                    f"GBN at m = {m:g}: {found.mean:+.1f} ± {found.half_width or 0:.1f} %"
                    for m, found in b.items()
                ),
            ),
        ),
        figures={
            "fig3": SweepPlot(
                "factor m",
                "throughput gain of GBN over SR [%]",
                {"trace A (synthetic)": a, "trace B": b},
                caption="Throughput gain of go-back-N over selective repeat, no loss",
                quoted={"trace A (synthetic)": {4: 12}},
            )
        },
        tables=(beside(ctx), handoffs(ctx)),
    )


EARLY = (4.0, 8.0)
"""Factors below 9 that are varied: the paper's, and the one that is last here."""


def gains_early(*values: Sequence[float]) -> list[Estimate]:
    """Returns what GBN gains at each of [`EARLY`]; `values` are of GBN and SR in turn."""
    return [gain_of(gbn, sr) for gbn, sr in zip(values[::2], values[1::2], strict=True)]


def a_transfer(gbn: float, sr: float) -> str:
    return f"{gbn:.1f} timeouts a transfer, {sr:.1f} with SR"


def over_sr(runs: Runs, trace: str, method: Method) -> Estimate:
    """Returns the method's gain over selective repeat with the same m."""
    base = replace(method, policy="sr")
    return gain_of(*(throughput(runs, each.scheme(trace)) for each in (method, base)))


def beside(ctx: Context) -> Table:
    """Returns both methods and the paper's alternatives, behind a wired link of 20 ms."""
    methods = {
        "SR, m = 4": Method(),
        "SR, m = 10": Method(10),
        "GBN, m = 4": Method(policy="gbn"),
        "GBN, m = 10": Method(10, "gbn"),
        "GBN in slow start, m = 4": Method(policy="gbn in slow start"),
        "Eifel": Method(changes="+eifel:timestamps=true"),
        "delay-jitter at the base station": Method(changes="+delay-jitter"),
        "split": Method(changes="+split"),
        "split, m = 10 on the wireless side": Method(changes="+split:rto.factor=10"),
        "split, m = 10 and GBN there": Method(changes="+split:rto.factor=10:timeout_policy=go-back-n"),
    }
    cases = {trace: case(ctx, trace, methods.values()) for trace in LINKS}
    found = ctx.sweep(
        {
            trace: replace(each, scenario=behind_a_wire(each.scenario), seeds=8)
            for trace, each in cases.items()
        }
    )
    base = {trace: throughput(runs, Method().scheme(trace)) for trace, runs in found.items()}
    rows: list[list[str | float | Estimate | None]] = []
    for name, method in methods.items():
        row: list[str | float | Estimate | None] = [name]
        for trace, runs in found.items():
            values = throughput(runs, method.scheme(trace))
            row += [estimate(values), gain_of(values, base[trace])]
        rows.append(row)
    columns = ("no loss", "trace A (synthetic) [kbit/s]", "gain [%]", "trace B [kbit/s]", "gain [%]")
    return Table("Beside them", columns, rows)


def handoffs(ctx: Context) -> Table:
    """Returns what the policies do where A forwards to B what it could not send (§III), or loses it."""
    fates = {
        "what waits is lost": "",
        "forwarded within 1 s": ', forward = "1s"',
        "forwarded within 3 s": ', forward = "3s"',
    }
    settings = {name: Setting(link=HANDOFF_LINK.format(forward=forward)) for name, forward in fates.items()}
    methods = [Method(), Method(policy="gbn"), Method(policy="gbn in slow start"), Method(10)]
    rows: list[list[str | float | Estimate | None]] = []
    for name, of in vary(ctx, "A", settings, methods, [0.0], seeds=30).of(throughput).items():
        base, *others = of[0.0]
        rows.append([name, estimate(base), *(gain_of(values, base) for values in others)])
    columns = ("", "SR, m = 4 [kbit/s]", "GBN [%]", "GBN in slow start [%]", "SR, m = 10 [%]")
    return Table("Hand-offs of 300 ms every 10 s, 384 kbit/s (our construct)", columns, rows)
