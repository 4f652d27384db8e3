"""Figures of all runs: over schemes and seeds."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from airtcp.facts.agreement import Pair
from airtcp.facts.numbers import interval, percent, seconds
from airtcp.facts.records import Run
from airtcp.facts.stats import CONFIDENCE
from airtcp.facts.summary import SchemeSummary, completion_times_s, goodput_bps, group
from airtcp.facts.units import rate_scale
from airtcp.showing.report.curve import cumulative
from airtcp.showing.report.figure import Axis, Bars, Dots, Figure, Line, Mark, Rule

LOGARITHMIC_FROM = 30.0


def goodput_bars(summaries: Sequence[SchemeSummary], runs: Sequence[Run], best: Sequence[str]) -> Figure:
    bounds = [run["bound_bps"] for run in runs if run["bound_bps"]]
    scale, unit = rate_scale([*bounds, *(row.goodput.mean for row in summaries)])
    by_scheme = group(runs)
    marks = list[Mark]()
    for row in summaries:
        errors = [] if row.goodput.half_width is None else [row.goodput.half_width / scale]
        marks.append(
            Bars(
                row.scheme,
                [row.goodput.mean / scale],
                [row.scheme],
                scheme=row.scheme,
                errors=errors,
                horizontal=True,
                strong=row.scheme in best,
            )
        )
    for scheme, of_scheme in by_scheme.items():
        goodputs = [goodput_bps(run) / scale for run in of_scheme]
        seeds = [f"seed {run['seed']}" for run in of_scheme]
        marks.append(
            Dots(
                scheme,
                goodputs,
                [scheme] * len(seeds),
                scheme=scheme,
                symbol="circle",
                notes=seeds,
                size=6,
            )
        )
    if bounds:
        marks.append(Rule("bound (1 − PER)·rate", [fmean(bounds) / scale], []))
    said = "; ".join(f"{row.scheme} {interval(row.goodput.scaled(1 / scale))}" for row in summaries)
    return Figure(
        "Goodput",
        f"Mean over runs with its {percent(CONFIDENCE, 0)} % interval; circles are single runs. Highlighted: "
        f"the best scheme{' and those statistically tied with it' if len(best) > 1 else ''}.",
        f"Goodput in {unit}: {said}.",
        Axis(f"goodput [{unit}]", from_zero=True),
        Axis("", categories=True),
        marks,
        height=60 + 38 * len(summaries),
    )


def paired_goodputs(pairs: Sequence[Pair]) -> Figure:
    """Draws each scheme's result on the kernel, with the simulator's value as a mark on the bar."""
    scale, unit = rate_scale([row.goodput.mean for pair in pairs for row in (pair.sim, pair.linux)])
    marks = list[Mark]()
    for pair in pairs:
        kernel, simulated = pair.linux.goodput.scaled(1 / scale), pair.sim.goodput.scaled(1 / scale)
        errors = [] if kernel.half_width is None else [kernel.half_width]
        marks += [
            Bars(
                f"{pair.scheme} on Linux",
                [kernel.mean],
                [pair.scheme],
                scheme=pair.scheme,
                errors=errors,
                horizontal=True,
            ),
            Dots(
                f"{pair.scheme} in the simulator",
                [simulated.mean],
                [pair.scheme],
                scheme=pair.scheme,
                symbol="quoted",
                notes=[f"± {simulated.half_width:.3g}" if simulated.half_width is not None else "one seed"],
                size=11,
            ),
        ]
    said = "; ".join(
        f"{pair.scheme} {interval(pair.linux.goodput.scaled(1 / scale))} on Linux,"
        f" {interval(pair.sim.goodput.scaled(1 / scale))} in the simulator"
        for pair in pairs
    )
    return Figure(
        "Goodput on Linux and in the simulator",
        f"Bars: mean of the kernel runs with its {percent(CONFIDENCE, 0)} % interval. Diamonds: the "
        "simulator's.",
        f"Goodput in {unit}: {said}.",
        Axis(f"goodput [{unit}]", from_zero=True),
        Axis("", categories=True),
        marks,
        height=60 + 38 * len(pairs),
    )


def completion_cdf(runs: Sequence[Run]) -> Figure:
    """Draws the share of each scheme's transfers that were complete after a time."""
    marks, said, ends = list[Mark](), list[str](), list[float]()
    for scheme, of_scheme in group(runs).items():
        times = sorted(time for run in of_scheme for time in completion_times_s(run))
        if not times:
            continue
        at, shares = cumulative(times, [1] * len(times))
        marks.append(Line(scheme, at, shares, scheme=scheme, step=True))
        said.append(f"{scheme} {seconds(times[len(times) // 2])} s")
        ends += [times[0], times[-1]]
    return Figure(
        "Completion times",
        "Share of all transfers, over all runs, completed within a given time.",
        f"Median: {', '.join(said)}.",
        Axis("completion time [s]", log=max(ends) > LOGARITHMIC_FROM * min(ends)),
        Axis("share of transfers", from_zero=True),
        marks,
    )
