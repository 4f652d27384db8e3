"""Paper 003, Fig 2: the factor m where a cell's scheduler delays packets, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from airtcp_studies.frame import Context, Result, Tried, claim, experiment, gain, gain_of
from airtcp_studies.papers.rto.setup import (
    CELL_LINK,
    LOSSES,
    PACKET_BYTES,
    PARAMETERS,
    TRACE_B_PARAMETERS,
    Method,
    Setting,
    case,
    mean,
    plot,
    sweep_factors,
    throughput,
    timeouts_of,
    vary,
)

SETTINGS = {
    "the ACK's delay beside the service time": Setting(link=CELL_LINK),
    "an ACK delay of 20 ms": Setting(keys={"channel.ack_delay": "20ms"}),
    "16 users": Setting(keys={"channel.users": 16}),
    "32 users": Setting(keys={"channel.users": 32}),
    "users at 30 km/h": Setting(keys={"channel.speed_kmh": 30.0}),
    "the user at the cell's edge": Setting(keys={"channel.distance_m": 1000.0}),
    "one timer for all packets": Setting(":rto.timers=connection"),
    "NewReno, limited transmit": Setting(":recovery=newreno:limited_transmit=true"),
    "a window of 64 kB": Setting(":receive_window=64kB"),
}


@experiment(
    "R2",
    where="§V, Fig 2",
    title="Throughput against the factor m on trace B",
    parameters=TRACE_B_PARAMETERS + PARAMETERS,
    seeds=8,
)
def r2(ctx: Context) -> Result:
    """1 MB to a user of a cell with a proportional-fair scheduler, selective repeat; in order."""
    factors = ctx.pick([2, 4, 6, 8, 10, 15, 20], quick=[4, 10])
    rates, timeouts = sweep_factors(ctx, "B", factors)
    few = (4.0, 10.0)
    variations = vary(ctx, "B", SETTINGS, [Method(m) for m in few], LOSSES[:2], seeds=6)
    varied, counts = (
        {
            name: {loss: dict(zip(few, curve, strict=True)) for loss, curve in of.items()}
            for name, of in variations.of(measure).items()
        }
        for measure in (throughput, timeouts_of)
    )
    windows = {m: mean_windows(ctx, m) for m in few}
    return Result(
        rows=(
            gain(
                "m = 10 over m = 4, no loss",
                10,
                gain_of(rates[0.0][10], rates[0.0][4]),
                tried=[Tried(name, gain_of(of[0.0][10], of[0.0][4])) for name, of in varied.items()],
            ),
            claim(
                "throughput is lower without loss than with 5 % for every m",
                is_lower(rates[0.0], rates[0.05]),
                evidence=side_by_side(rates[0.0], rates[0.05]),
                tried=[
                    Tried(name, holds=is_lower(of[0.0], of[0.05]), evidence=side_by_side(of[0.0], of[0.05]))
                    for name, of in varied.items()
                ],
            ),
            claim(
                "with 5 % loss there are fewer timeouts than without, for every m",
                is_lower(timeouts[0.05], timeouts[0.0]),
                evidence=side_by_side(timeouts[0.05], timeouts[0.0], "a transfer"),
                tried=[
                    Tried(
                        name,
                        holds=is_lower(of[0.05], of[0.0]),
                        evidence=side_by_side(of[0.05], of[0.0], "a transfer"),
                    )
                    for name, of in counts.items()
                ],
            ),
            claim(
                "cwnd is larger than on trace A (m = 4, no loss)",
                windows[4.0]["B"] > windows[4.0]["A"],
                evidence=by_trace(windows[4.0]),
                tried=[
                    Tried(
                        "m = 10",
                        holds=windows[10.0]["B"] > windows[10.0]["A"],
                        evidence=by_trace(windows[10.0]),
                    )
                ],
            ),
            claim(
                "10 % loss is worse than 5 %",
                is_lower(rates[0.1], rates[0.05]),
                evidence=side_by_side({10: rates[0.1][10]}, rates[0.05]),
            ),
        ),
        figures={"fig2": plot(rates, "trace B", {})},
    )


Curve = Mapping[float, Sequence[float]]


def is_lower(curve: Curve, other: Curve) -> bool:
    return all(mean(values) < mean(other[m]) for m, values in curve.items())


def mean_windows(ctx: Context, factor: float) -> dict[str, float]:
    """Returns cwnd in packets, over time, of three transfers on each trace."""
    found = ctx.sweep(
        {
            trace: replace(
                case(ctx, trace, [Method(factor)], seeds=3), series_interval_s=1.0, series_of_every_seed=True
            )
            for trace in PACKET_BYTES
        }
    )
    return {
        trace: fmean(
            value / PACKET_BYTES[trace]
            for series in runs.every_series(runs.schemes[0])
            for value in series.flows["cwnd_bytes"]
        )
        for trace, runs in found.items()
    }


def by_trace(windows: Mapping[str, float]) -> str:
    return ", ".join(f"{value:.1f} packets on trace {trace}" for trace, value in windows.items())


def side_by_side(curve: Curve, other: Curve, unit: str = "kbit/s") -> str:
    found = (f"m = {m:g}: {mean(values):.1f} and {mean(other[m]):.1f}" for m, values in curve.items())
    return "; ".join(found) + f" {unit}"
