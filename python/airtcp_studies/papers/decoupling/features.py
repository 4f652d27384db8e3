"""What the data TCP's features are worth: §6 of paper 000."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from statistics import fmean

from airtcp_studies.frame import (
    Case,
    Context,
    Result,
    Row,
    Runs,
    Table,
    Tried,
    claim,
    experiment,
    gain_of,
    info,
)
from airtcp_studies.frame.rows import TOLERANCES
from airtcp_studies.papers.decoupling.lossy import DECOUPLING, ERRORS, QUEUE, sweep
from airtcp_studies.papers.decoupling.paths import BUFFERS, RENO, STACK, TIMER, TUNNEL_QUEUE, flow, link

FEATURES = {"f1": "F1", "f2": "F2", "f3": "F3"}


@experiment(
    "D8",
    where="§6",
    title="What F1, F2 and F3 are worth",
    parameters=(STACK, BUFFERS, TUNNEL_QUEUE, TIMER, ERRORS, QUEUE),
    seeds=5,
)
def d8(ctx: Context) -> Result:
    """D3's link with BER 2e-6, and D4's with RTT 100 ms; the data TCP with SACK or without (F1), with the
    first unacknowledged packet again every so many duplicate ACKs or without (F2), with its timer of 50
    ms or the stack's (F3)."""
    sets = list(product((True, False), repeat=3))
    schemes = {_features(kept): _with(kept) for kept in sets}
    found = sweep(
        ctx,
        schemes | {"Reno": RENO},
        {rtt: {"link.wireless.delay": f"{rtt / 2}ms"} for rtt in (10, 100)},
    )
    goodput = {
        (rtt, name): runs.goodput(text, "KB/s")
        for rtt, runs in found.items()
        for name, text in (schemes | {"Reno": RENO}).items()
    }
    rows: list[Row] = []
    for rtt in (10, 100):
        everything, nothing = goodput[rtt, "F1 F2 F3"], goodput[rtt, "none"]
        rows.append(
            claim(
                f"it is important to be aggressive (RTT {rtt} ms)",
                fmean(everything) > 1.5 * fmean(nothing),
                evidence=f"{fmean(everything):.0f} KB/s with all three, {fmean(nothing):.0f} with none",
            )
        )
        for key, name in FEATURES.items():
            without = goodput[rtt, _features(tuple(one != key for one in FEATURES))]
            alone = goodput[rtt, _features(tuple(one == key for one in FEATURES))]
            rows.append(info(f"{name} beside the others, RTT {rtt} ms", gain_of(everything, without), "%"))
            rows.append(info(f"{name} alone, RTT {rtt} ms", gain_of(alone, nothing), "%"))
    rows += [fewer_timeouts(found, schemes), cheaper_timeouts(goodput), harmless(ctx)]
    table = Table(
        "Goodput in KB/s",
        ("data TCP", "RTT 10 ms", "RTT 100 ms"),
        [[name, *(fmean(goodput[rtt, name]) for rtt in (10, 100))] for name in (*schemes, "Reno")],
    )
    return Result(rows=rows, tables=(table,), notes=(REPLACED,))


REPLACED = (
    "What replaces a feature that is off: F1 no SACK, so that one hole is repaired a round trip; F2 one fast "
    "retransmit at three duplicate ACKs; F3 the stack's timer, with back-off."
)


def fewer_timeouts(found: Mapping[int, Runs], schemes: Mapping[str, str]) -> Row:
    def timeouts(rtt: int, name: str) -> float:
        return fmean(found[rtt].total(schemes[name], lambda flow: flow["timeouts"]))

    pairs = {rtt: (timeouts(rtt, "F1 F2 F3"), timeouts(rtt, "F3")) for rtt in found}
    return claim(
        "F1 and F2 greatly reduce the data TCP's timeouts",
        all(with_them < 0.5 * without for with_them, without in pairs.values()),
        evidence="; ".join(
            f"RTT {rtt} ms: {one:.0f} a run instead of {other:.0f}" for rtt, (one, other) in pairs.items()
        ),
    )


def cheaper_timeouts(goodput: Mapping[tuple[int, str], Sequence[float]]) -> Row:
    pairs = {rtt: (fmean(goodput[rtt, "F3"]), fmean(goodput[rtt, "none"])) for rtt in (10, 100)}
    return claim(
        "where timeouts happen (without F1 and F2), F3 makes them cost less",
        all(fine > coarse for fine, coarse in pairs.values()),
        evidence="; ".join(
            f"RTT {rtt} ms: {fine:.0f} KB/s instead of {coarse:.0f}" for rtt, (fine, coarse) in pairs.items()
        ),
    )


def harmless(ctx: Context) -> Row:
    """Returns what a plain TCP has beside an aggressive data TCP, where nothing is corrupted."""
    duration = {"duration": ctx.pick("100s", quick="5s")}
    beside = {name: DECOUPLING + keys for name, keys in (("all three", ""), ("none", NO_FEATURES))}
    found = ctx.sweep(
        {
            name: Case(
                link("10Mbit/s", 10, queue="{ packets = 50 }", acks_vary_by="1ms")
                + flow("other1", RENO)
                + flow("stream", scheme),
                ("reno",),
                duration,
            )
            for name, scheme in {**beside, "plain TCP": RENO}.items()
        }
    )
    kept = {name: fmean(runs.goodput("reno", "KB/s", "other1")) for name, runs in found.items()}
    shown = ", ".join(f"{value:.0f} KB/s beside {name}" for name, value in kept.items())
    return claim(
        "a data TCP with F1, F2 and F3 does no harm to a TCP beside it",
        kept["all three"] >= (1 - TOLERANCES["absolute"]) * kept["plain TCP"],
        evidence=f"without bit errors a Reno has {shown}",
        tried=[
            Tried(
                "none of the features", holds=kept["none"] >= (1 - TOLERANCES["absolute"]) * kept["plain TCP"]
            )
        ],
    )


NO_FEATURES = "".join(f":{key}=false" for key in FEATURES)


def _features(kept: tuple[bool, ...]) -> str:
    names = [name for name, keep in zip(FEATURES.values(), kept, strict=True) if keep]
    return " ".join(names) or "none"


def _with(kept: tuple[bool, ...]) -> str:
    keys = [f":{key}=false" for key, keep in zip(FEATURES, kept, strict=True) if not keep]
    return DECOUPLING + "".join(keys)
