"""P1 and P2: delay variation, without and with losses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from airtcp.facts.records import Run
from airtcp.facts.series import Series
from airtcp.facts.stats import estimate
from airtcp_studies.frame import (
    BarPlot,
    Case,
    Context,
    Plot,
    Result,
    Runs,
    Table,
    TimePlot,
    Tried,
    claim,
    experiment,
    gain,
    gain_of,
    info,
)
from airtcp_studies.papers.packet_control.path import (
    BESIDE,
    COMPARED,
    FILTERED,
    LOSS,
    NONE,
    PARAMETERS,
    SEGMENT_BYTES,
    STEADY,
    VARYING,
    Line,
    ack_filter,
    filtered,
    goodput,
    goodput_over_time,
    line,
    per_run,
)
from airtcp_studies.papers.packet_control.variants import FLAVORS, single_runs, what_was_tried


@experiment(
    "P1",
    where="Scenario I, Figs 8–10",
    title="Delay variation",
    parameters=PARAMETERS,
    seeds=60,
)
def p1(ctx: Context) -> Result:
    """One transfer of 20 s from the fixed host over 1 Mbit/s and 5 ms, then a wireless link of 250 kbit/s
    whose delay varies from 0.5 s on as in Table I, both ways. Packet control at the base station with
    redefine3DupAck 3, 6, 9 and 12."""
    schemes = (*COMPARED.values(), ack_filter(3), ack_filter(12), *BESIDE.values())
    found = ctx.sweep(
        {
            "varying": Case(VARYING, schemes, series_interval_s=0),
            "steady": Case(STEADY, (NONE,)),
            "windows": Case(VARYING, tuple(COMPARED.values()), {}, 10, 0.1, True),
        }
    )
    runs, steady = found["varying"], found["steady"]
    windows = {name: mean_window(found["windows"], scheme) for name, scheme in FILTERED.items()}
    repeated = {name: per_run(runs, scheme, "retransmissions").mean for name, scheme in COMPARED.items()}
    carried = {name: estimate(goodput(runs, scheme)).mean for name, scheme in COMPARED.items()}
    spurious, fast = (
        per_run(runs, NONE, key).mean for key in ("fast_retransmits_spurious", "fast_retransmits")
    )
    tried = what_was_tried(ctx, {}, 12)
    flavors = [each for each in tried if each.setting in FLAVORS]
    base = goodput(runs, NONE)
    ceiling = gain_of(goodput(steady, NONE), base)
    reductions = {name: per_run(runs, scheme, "cwnd_reductions") for name, scheme in COMPARED.items()}
    falls = [reductions[name].mean for name in FILTERED]
    gains = gains_of_runs(runs, filtered(12))
    rows = [
        claim(
            "no packet control and threshold 3 coincide",
            identical(runs, NONE, filtered(3)) == len(base),
            evidence=f"identical runs: {identical(runs, NONE, filtered(3))} of {len(base)}",
            tried=[
                Tried(
                    "without the data filter",
                    holds=identical(runs, NONE, ack_filter(3)) == len(base),
                    evidence=f"identical runs: {identical(runs, NONE, ack_filter(3))} of {len(base)}",
                )
            ],
            note="The data filter drops a spurious retransmission that reaches the base station after the "
            "ACK of its original has passed, and with it a later duplicate ACK. Where none does, the two "
            "coincide.",
        ),
        claim(
            "fewer cwnd reductions with each larger threshold, fewest with 12",
            reductions["no packet control"].mean >= falls[-1] and falls == sorted(falls, reverse=True),
            evidence=", ".join(f"{name}: {found.mean:.2f}" for name, found in reductions.items()),
        ),
        gain(
            "goodput with threshold 12, over none",
            100,
            gain_of(goodput(runs, filtered(12)), base),
            note="The paper says 'may improve … by ~100%' of single runs.",
            tried=tried,
        ),
        claim(
            "the fast retransmits are spurious",
            spurious == fast,
            evidence=f"{spurious:.2f} of {fast:.2f} a run, without packet control",
        ),
        claim(
            "cwnd remains larger with each larger threshold (Fig 9)",
            rises(windows.values()),
            evidence=", ".join(f"{name}: {mean:.1f} segments" for name, mean in windows.items()),
        ),
        claim(
            "the goodput rises with each larger threshold",
            rises(carried[name] for name in FILTERED),
            evidence=", ".join(f"{name}: {mean:.0f} kbit/s" for name, mean in carried.items()),
        ),
        claim(
            "less bandwidth is spent on retransmissions with each larger threshold (§VIII)",
            rises(-repeated[name] for name in FILTERED),
            evidence=", ".join(f"{name}: {mean:.1f} a run" for name, mean in repeated.items()),
        ),
        claim(
            "it does not depend on the flavor of TCP (§V.B)",
            all(each.ours is not None and each.ours.mean > 0 for each in flavors),
            evidence=", ".join(
                f"{each.setting} {each.ours.mean:+.0f} %" for each in flavors if each.ours is not None
            )
            or "tried in a full run only",
        ),
        *single_runs(gains, 12, 100),
        info("the ceiling: constant delay of 170 ms, over varying delay", ceiling, "%"),
        *(
            info(f"{name}, over Reno", gain_of(goodput(runs, scheme), base), "%")
            for name, scheme in BESIDE.items()
        ),
    ]
    every = COMPARED | BESIDE
    figures: dict[str, Plot] = {
        "fig8": TimePlot(
            "cwnd reductions",
            {"first seed": {name: reductions_line(runs.series(s)) for name, s in COMPARED.items()}},
            "Number of cwnd reductions (the paper's Fig 8)",
        ),
        "fig9": TimePlot(
            "cwnd [segments]",
            {name: {"cwnd": cwnd_line(runs.series(scheme))} for name, scheme in COMPARED.items()},
            "cwnd, first seed (the paper's Fig 9)",
        ),
        "fig10": goodput_over_time(runs, COMPARED, "Goodput (the paper's Fig 10)"),
        "goodput": bars(runs, every, "varying delay", {"constant delay": goodput(steady, NONE)}),
    }
    return Result(rows=rows, figures=figures, tables=(table(runs, every),))


@experiment(
    "P2",
    where="Scenario II, Fig 11",
    title="Delay variation and losses",
    parameters=PARAMETERS,
    seeds=60,
)
def p2(ctx: Context) -> Result:
    """As P1, and 1 % of the packets lost on the wireless link, both ways."""
    schemes = (*COMPARED.values(), *BESIDE.values())
    found = ctx.sweep(
        {
            "varying": Case(VARYING, schemes, LOSS, series_interval_s=0),
            "steady": Case(STEADY, (NONE, filtered(9)), LOSS),
        }
    )
    runs, steady = found["varying"], found["steady"]
    base = goodput(runs, NONE)
    gains = gains_of_runs(runs, filtered(9))
    rows = [
        gain(
            "goodput with threshold 9, over none",
            30,
            gain_of(goodput(runs, filtered(9)), base),
            note="The paper's is a single run.",
            tried=what_was_tried(ctx, LOSS, 9),
        ),
        claim(
            "with losses, too, threshold 9 is better than none",
            gain_of(goodput(runs, filtered(9)), base).mean > 0,
            evidence=f"{estimate(goodput(runs, filtered(9))).mean:.1f} and {estimate(base).mean:.1f} kbit/s",
        ),
        *single_runs(gains, 9, 30),
        info(
            "threshold 9 over none, with the losses and a constant delay",
            gain_of(goodput(steady, filtered(9)), goodput(steady, NONE)),
            "%",
            note="What the filter costs where there is nothing for it to hide.",
        ),
        *(
            info(f"{name}, over Reno", gain_of(goodput(runs, scheme), base), "%")
            for name, scheme in BESIDE.items()
        ),
    ]
    every = COMPARED | BESIDE
    figures: dict[str, Plot] = {
        "fig11": goodput_over_time(runs, COMPARED, "Goodput with 1 % loss (the paper's Fig 11)"),
        "goodput": bars(
            runs, every, "varying delay, 1 % loss", {"constant delay, 1 % loss": goodput(steady, NONE)}
        ),
    }
    notes = (
        "What hides reordering hides losses, too: with a small window the third duplicate that passes never "
        "comes, and the timer has to (table).",
    )
    return Result(rows=rows, figures=figures, tables=(table(runs, every),), notes=notes)


def gains_of_runs(runs: Runs, scheme: str) -> list[float]:
    """Returns the gain in percent over no packet control, seed by seed."""
    return [
        100 * (ours / base - 1) for ours, base in zip(goodput(runs, scheme), goodput(runs, NONE), strict=True)
    ]


def mean_window(runs: Runs, scheme: str) -> float:
    """Returns cwnd in segments, over all seeds and samples."""
    cwnd = pl.concat([series.flows["cwnd_bytes"] for series in runs.every_series(scheme)])
    return estimate((cwnd / SEGMENT_BYTES).to_list()).mean


def rises(values: Iterable[float]) -> bool:
    of = list(values)
    return all(low <= high for low, high in pairwise(of))


def identical(runs: Runs, one: str, other: str) -> int:
    """Returns the number of seeds for which both leave the same record: all counts of sender and receiver."""
    return sum(same(*pair) for pair in zip(runs.of(one), runs.of(other), strict=True))


def same(one: Run, other: Run) -> bool:
    return {**one["flows"][0], "scheme": ""} == {**other["flows"][0], "scheme": ""}


@dataclass(frozen=True)
class Column:
    title: str
    key: str


COLUMNS = (
    Column("cwnd reductions", "cwnd_reductions"),
    Column("fast retransmits", "fast_retransmits"),
    Column("of them spurious", "fast_retransmits_spurious"),
    Column("timeouts", "timeouts"),
    Column("retransmissions", "retransmissions"),
)


def table(runs: Runs, names: Mapping[str, str]) -> Table:
    return Table(
        "A run of 20 s",
        ("", "goodput [kbit/s]", *(column.title for column in COLUMNS)),
        [
            (name, estimate(goodput(runs, scheme)), *(per_run(runs, scheme, c.key) for c in COLUMNS))
            for name, scheme in names.items()
        ],
    )


def bars(runs: Runs, names: Mapping[str, str], group: str, steady: Mapping[str, list[float]]) -> BarPlot:
    measured = {name: goodput(runs, scheme) for name, scheme in names.items()}
    ceilings = {name: {"no packet control": values} for name, values in steady.items()}
    return BarPlot(
        "goodput [kbit/s]", {group: measured, **ceilings}, "Goodput over all seeds, and the ceiling"
    )


def reductions_line(series: Series) -> Line:
    kinds = ["fast-retransmit", "timeout"]
    times = series.events.filter(pl.col("kind").is_in(kinds))["time_s"].to_list()
    return line([0.0, *times, 20.0], [0, *range(1, len(times) + 1), len(times)])


def cwnd_line(series: Series) -> Line:
    return line(series.flows["time_s"], series.flows["cwnd_bytes"] / SEGMENT_BYTES)
