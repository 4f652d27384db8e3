"""P5: short transfers, and ways of different rates, which the paper names and does not try."""

from __future__ import annotations

import math

import numpy as np

from airtcp.facts.stats import Estimate, estimate
from airtcp_studies.frame import (
    Case,
    Context,
    OpenParameter,
    Result,
    Runs,
    Table,
    experiment,
    gain_of,
    info,
)
from airtcp_studies.papers.packet_control.path import (
    FILTERED,
    LOSS,
    NONE,
    PARAMETERS,
    THRESHOLDS,
    VARYING,
    filtered,
    goodput,
)

SIZES = ("10kB", "30kB")
RATES = {
    "384 and 64 kbit/s (3G)": ("384kbit/s", "64kbit/s"),
    "40 and 10 kbit/s (2.5G)": ("40kbit/s", "10kbit/s"),
}
MOST = THRESHOLDS[-1]


@experiment(
    "P5",
    where="§III.D and §V.A, not measured there",
    title="Short transfers, and ways of different rates",
    parameters=(
        *PARAMETERS[:-1],
        OpenParameter("transfers", "one every 10 s in the mean, each on its own connection", "one by one"),
        OpenParameter("rates of the ways", ", ".join(RATES), "named in §III.C for both kinds of network"),
    ),
    seeds=20,
)
def p5(ctx: Context) -> Result:
    """Short transfers, as HTTP makes them, over the path of P1 for 300 s, without and with 1 % loss; and long
    ones of 60 s where the way back is slower than the way there."""
    schemes = (NONE, *FILTERED.values())
    short = ctx.sweep(
        {
            f"{size}{', 1 % loss' if lost else ''}": Case(
                f"{VARYING}{pages(size)}", schemes, {"duration": ctx.pick("300s", quick="60s"), **lost}
            )
            for size in SIZES
            for lost in ({}, LOSS)
        }
    )
    long = ctx.sweep({name: asymmetric(schemes, *rates, quick=ctx.quick) for name, rates in RATES.items()})
    rows = [
        info(
            f"completion of {name}, 95th percentile, threshold {MOST} over none",
            gain_of(completion(runs, filtered(MOST)), completion(runs, NONE)),
            "%",
        )
        for name, runs in short.items()
    ]
    rows += [
        info(
            f"goodput, {name}, threshold {MOST} over none",
            gain_of(goodput(runs, filtered(MOST)), goodput(runs, NONE)),
            "%",
        )
        for name, runs in long.items()
    ]
    columns = ("", "no packet control", *FILTERED)
    tables = (
        Table("95th percentile of completion times [s]", columns, [values(*each) for each in short.items()]),
        Table("Goodput [kbit/s]", columns, [rates(*each) for each in long.items()]),
    )
    return Result(rows=rows, tables=tables)


def pages(size: str) -> str:
    return f"""
[[flow]]
name = "page"
traffic = {{ kind = "poisson", interval = "10s", size = "{size}" }}
"""


def asymmetric(schemes: tuple[str, ...], there: str, back: str, *, quick: bool) -> Case:
    sets = {"link.wireless.rate": there, "link.wireless.reverse.rate": back}
    return Case(VARYING, schemes, sets | {"duration": "10s" if quick else "60s"})


def completion(runs: Runs, scheme: str) -> list[float]:
    """Returns the 95th percentile of the completion times of each run, in seconds."""
    times = ([t for flow in run["flows"] for t in flow["completion_times_s"]] for run in runs.of(scheme))
    return [float(np.quantile(each, 0.95)) if each else math.nan for each in times]


Cells = list[str | float | Estimate | None]


def values(name: str, runs: Runs) -> Cells:
    return [name, *(estimate(completion(runs, scheme)) for scheme in runs.schemes)]


def rates(name: str, runs: Runs) -> Cells:
    return [name, *(estimate(goodput(runs, scheme)) for scheme in runs.schemes)]
