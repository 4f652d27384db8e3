"""What a sweep keeps of a run: one row of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

import polars as pl

from airtcp.facts.records import Run
from airtcp.facts.scheme import is_split
from airtcp.sweep.plan import Plan

Measures = tuple[float | int | None, ...]
"""In the order of `MEASURES`."""
Found = Measures | str
"""What a run left: measures, or the text of its error."""

_COUNTS = (
    "data_packets_sent",
    "retransmissions",
    "retransmissions_spurious",
    "timeouts",
    "timeouts_spurious",
    "fast_retransmits",
    "cwnd_reductions",
    "losses_corruption",
    "losses_congestion",
    "losses_outage",
)

_counts = itemgetter(*_COUNTS)

MEASURES: Mapping[str, type[pl.DataType]] = {
    "goodput_bps": pl.Float64,
    "bound_bps": pl.Float64,
    "jain_index": pl.Float64,
    "throughput_bps": pl.Float64,
    "rtt_min_ms": pl.Float64,
    "rtt_p50_ms": pl.Float64,
    "rtt_p95_ms": pl.Float64,
    "completion_mean_s": pl.Float64,
    "completed_transfers": pl.Int64,
    **dict.fromkeys(_COUNTS, pl.Int64),
    "packets_delivered": pl.Int64,
}
"""Over all measured flows together; RTTs are means with the weight of their samples."""


def measures(run: Run) -> Measures:
    flows = [flow for flow in run["flows"] if flow["measured"]]
    split = is_split(run["scheme"])
    times = [time for flow in flows for time in flow["completion_times_s"]]
    minima = [flow["rtt_min_ms"] for flow in flows if flow["rtt_min_ms"] is not None]
    # Behind a proxy the sender's round trips are those with the proxy.
    samples = [0 if split else flow["rtt_samples"] for flow in flows]
    return (
        run["goodput_bps"],
        run["bound_bps"],
        run["jain_index"],
        sum([flow["throughput_bps"] for flow in flows]),
        None if split else min(minima, default=None),
        _mean_rtt([flow["rtt_p50_ms"] for flow in flows], samples),
        _mean_rtt([flow["rtt_p95_ms"] for flow in flows], samples),
        sum(times) / len(times) if times else None,
        len(times),
        *map(sum, zip(*map(_counts, flows), strict=True)),
        run["packets_delivered"],
    )


def _mean_rtt(rtts_ms: Sequence[float | None], samples: Sequence[int]) -> float | None:
    count = sum(samples)
    total: float = sum([(rtt_ms or 0.0) * weight for rtt_ms, weight in zip(rtts_ms, samples, strict=True)])
    return total / count if count else None


def frame(plan: Plan, found: Mapping[int, Found]) -> pl.DataFrame:
    """A row for each run that is done, in the plan's order: by point, scheme and seed."""
    places = sorted(found)
    seeds, schemes = len(plan.seeds), len(plan.schemes)
    points = [plan.points[place // (seeds * schemes)] for place in places]
    columns: list[pl.Series] = [pl.Series("point", [point.number for point in points], pl.Int64)]
    for index, axis in enumerate(plan.axes):
        values = [point.values[index] for point in points]
        column = [value.number if axis.is_number else value.text for value in values]
        columns.append(pl.Series(axis.name, column, pl.Float64 if axis.is_number else pl.String))
    names = [plan.schemes[place // seeds % schemes] for place in places]
    columns += [
        pl.Series("scheme", names, pl.String),
        pl.Series("seed", [plan.seeds[place % seeds] for place in places], pl.Int64),
    ]
    rows = [found[place] for place in places]
    for index, (name, kind) in enumerate(MEASURES.items()):
        cells = [None if isinstance(row, str) else row[index] for row in rows]
        columns.append(pl.Series(name, cells, kind))
    columns.append(pl.Series("error", [row if isinstance(row, str) else None for row in rows], pl.String))
    return pl.DataFrame(columns)
