"""Paper 003, Fig 1: the factor m where packets overtake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from airtcp.facts.stats import Estimate
from airtcp_studies.frame import Context, Result, Tried, absolute, claim, experiment, gain, gain_of, info
from airtcp_studies.papers.rto.setup import (
    LOSSES,
    MEAN_S,
    PARAMETERS,
    TRACE_A_PARAMETERS,
    Method,
    Setting,
    best,
    mean,
    plot,
    span,
    sweep_factors,
    throughput,
    timeouts_of,
    vary,
)


def deviating(share: float, changes: str = "", **keys: object) -> Setting:
    """Returns another standard deviation of the trace, as a share of its mean."""
    return Setting(changes, {"jitter.deviation": f"{share * MEAN_S:.3f}s", **keys})


SPIKES = '{ every = "60s", length = "2s", extra = "6s" }'
"""As hand-offs cause them (§I): rare, so that RTTVAR forgets them, and long."""
NEWRENO = ":recovery=newreno:limited_transmit=true"

SETTINGS = {
    "deviation of a quarter of the mean": deviating(0.25),
    "deviation as large as the mean": deviating(1),
    "deviation twice the mean": deviating(2),
    "little deviation, 6 s more for 2 s a minute": deviating(0.15, spikes=SPIKES),
    "one timer for all packets": Setting(":rto.timers=connection"),
    "no back-off": Setting(":rto.backoff=false"),
    "NewReno, limited transmit": Setting(NEWRENO),
    "duplicate ACKs ignored": Setting(":dupack_threshold=1000"),
    "delayed ACKs": Setting(":ack_every=2"),
    "a window of 64 kB": Setting(":receive_window=64kB"),
}


@experiment(
    "R1",
    where="§V, Fig 1",
    title="Throughput against the factor m on trace A",
    parameters=TRACE_A_PARAMETERS + PARAMETERS,
    seeds=30,
)
def r1(ctx: Context) -> Result:
    """1 MB over round trips drawn from a (synthetic) trace A, selective repeat; packets overtake."""
    factors = ctx.pick([2, 3, 4, 5, 6, 8, 10, 12, 15, 20], quick=[4, 10, 20])
    rates, timeouts = sweep_factors(ctx, "A", factors)
    clear = rates[0.0]
    gains = {loss: gain_of(curve[10], curve[4]) for loss, curve in rates.items()}
    variations = vary(ctx, "A", SETTINGS, [Method(m) for m in FEW], LOSSES, seeds=10)
    others = variations.of(throughput)
    left = {
        name: dict(zip(FEW[1:], map(mean, of[0.0][1:]), strict=True))
        for name, of in variations.of(timeouts_of).items()
    }
    varied = {
        name: {loss: gain_of(larger, base) for loss, (base, larger, _) in of.items()}
        for name, of in others.items()
    }
    peaks = {loss: best(curve) for loss, curve in rates.items()}
    base, most = mean(clear[4]), mean(clear[best(clear)])
    share = 100 * (mean(clear[10]) - base) / (most - base) if most > base else 0.0
    late = {m: mean(found) for m, found in timeouts[0.0].items() if m > 9}
    flat = span(clear, 10, 20)
    counts = [mean(timeouts[0.0][m]) for m in factors]
    return Result(
        rows=(
            info(
                "m = 4, no loss",
                clear[4],
                "kbit/s",
                paper=27.0,
                note="The synthetic trace's mean is calibrated to it, so that it proves nothing.",
            ),
            absolute("best m from 10 to 20, no loss", 30.7, clear[best_from(clear, 10)], "kbit/s"),
            gain(
                "m = 10 over m = 4, no loss",
                13.7,
                gains[0.0],
                tried=[Tried(name, found[0.0]) for name, found in varied.items()],
            ),
            claim(
                "the gains at 5 % and 10 % loss are similar",
                are_similar(gains),
                evidence=by_loss(gains),
                note="Similar is read as from half to twice the gain without loss.",
                tried=[
                    Tried(name, holds=are_similar(found), evidence=by_loss(found))
                    for name, found in varied.items()
                ],
            ),
            claim(
                "throughput peaks at m from 10 to 15, whatever the loss",
                all(10 <= m <= 15 for m in peaks.values()),
                evidence=", ".join(f"{loss:.0%}: m = {m:g}" for loss, m in peaks.items()),
                tried=[
                    Tried(name, holds=peak_at_10(of), evidence=few_factors(of)) for name, of in others.items()
                ],
            ),
            claim(
                "m = 10 yields most of the possible gain over m = 4, no loss (§II)",
                share > 50,
                evidence=f"{share:.0f} % of it; m = {best(clear):g} is best",
            ),
            claim(
                "beyond m = 9 spurious timeouts are avoided, no loss",
                max(late.values()) < 1,
                evidence=a_transfer(late),
                tried=[
                    Tried(name, holds=max(of.values()) < 1, evidence=a_transfer(of))
                    for name, of in left.items()
                ],
            ),
            claim(
                "throughput is flat from m = 10 to 20",
                max(flat) <= 1.03 * min(flat),
                evidence=f"{min(flat):.1f} to {max(flat):.1f} kbit/s without loss",
            ),
            claim(
                "timeouts become fewer as m grows",
                all(later <= earlier for earlier, later in pairwise(counts)),
                evidence=f"{counts[0]:.1f} a transfer at m = {factors[0]}, "
                f"{counts[-1]:.1f} at m = {factors[-1]}",
            ),
        ),
        figures={"fig1": plot(rates, "trace A (synthetic)", {4: 27.0, 12: 30.7})},
    )


def a_transfer(counts: Mapping[float, float]) -> str:
    return ", ".join(f"m = {m:g}: {count:.1f}" for m, count in counts.items()) + " timeouts a transfer"


FEW = (4.0, 10.0, 20.0)


def peak_at_10(found: Mapping[float, Sequence[Sequence[float]]]) -> bool:
    """Returns whether the second of three factors is best at each loss."""
    return all(mean(at_10) >= max(mean(low), mean(high)) for low, at_10, high in found.values())


def few_factors(found: Mapping[float, Sequence[Sequence[float]]]) -> str:
    factors = ", ".join(f"{m:g}" for m in FEW)
    curves = (f"{loss:.0%}: " + ", ".join(f"{mean(of):.1f}" for of in curve) for loss, curve in found.items())
    return f"m = {factors}: {'; '.join(curves)} kbit/s"


def best_from(curve: Mapping[float, Sequence[float]], low: float) -> float:
    return best({factor: values for factor, values in curve.items() if factor >= low})


def are_similar(gains: Mapping[float, Estimate]) -> bool:
    clear = gains[0.0].mean
    return all(clear / 2 <= gains[loss].mean <= clear * 2 for loss in LOSSES[1:])


def by_loss(gains: Mapping[float, Estimate]) -> str:
    return ", ".join(f"{loss:.0%}: {found.mean:+.1f} %" for loss, found in gains.items())
