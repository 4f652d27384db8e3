"""Paper 003, Fig 2: the factor m where a cell's scheduler delays packets, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from airtcp_studies.frame import Context, Result, Tried, claim, experiment, gain, gain_of
from airtcp_studies.papers.rto.setup import (
    CELL_LINK,
    LOSSES,
    PARAMETERS,
    TRACE_B_PARAMETERS,
    Method,
    Setting,
    mean,
    plot,
    sweep_factors,
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
    rates, _ = sweep_factors(ctx, "B", factors)
    few = (4.0, 10.0)
    varied = {
        name: {loss: dict(zip(few, curve, strict=True)) for loss, curve in of.items()}
        for name, of in vary(ctx, "B", SETTINGS, [Method(m) for m in few], LOSSES[:2], seeds=6).items()
    }
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


def side_by_side(curve: Curve, other: Curve) -> str:
    found = (f"m = {m:g}: {mean(values):.1f} and {mean(other[m]):.1f}" for m, values in curve.items())
    return "; ".join(found) + " kbit/s"
