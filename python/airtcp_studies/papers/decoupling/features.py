"""What the data TCP's features are worth: §6 of paper 000."""

from __future__ import annotations

from itertools import product
from statistics import fmean

from airtcp_studies.frame import Context, Result, Row, Table, claim, experiment, gain_of, info
from airtcp_studies.papers.decoupling.lossy import DECOUPLING, ERRORS, QUEUE, sweep
from airtcp_studies.papers.decoupling.paths import BUFFERS, RENO, STACK, TIMER, TUNNEL_QUEUE

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


def _features(kept: tuple[bool, ...]) -> str:
    names = [name for name, keep in zip(FEATURES.values(), kept, strict=True) if keep]
    return " ".join(names) or "none"


def _with(kept: tuple[bool, ...]) -> str:
    keys = [f":{key}=false" for key, keep in zip(FEATURES, kept, strict=True) if not keep]
    return DECOUPLING + "".join(keys)
