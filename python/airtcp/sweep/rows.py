"""What a sweep keeps of a run: one row of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter

import polars as pl

from airtcp._engine import Record
from airtcp.facts.scheme import is_split
from airtcp.sweep.plan import Plan

Measures = tuple[float | int | None, ...]
"""In the order of `MEASURES`."""
Found = Measures | str
"""The result of a run: measures, or the text of its error."""

COUNTS = (
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
    **dict.fromkeys(COUNTS, pl.Int64),
    "packets_delivered": pl.Int64,
}
"""Over all measured flows together; RTTs are means weighted by their samples."""

_in_order = itemgetter(*MEASURES)
_BEHIND_PROXY: dict[str, None] = dict.fromkeys(("rtt_min_ms", "rtt_p50_ms", "rtt_p95_ms"))
"""A sender behind a proxy measures its round trips to the proxy, so these are left out."""


def measures(record: Record, scheme: str) -> Measures:
    """Returns the row of a run of `scheme`."""
    totals = record.totals()
    row: Measures = _in_order(totals | _BEHIND_PROXY if is_split(scheme) else totals)
    return row


def frame(plan: Plan, found: Mapping[int, Found]) -> pl.DataFrame:
    """Returns a row per finished run, in the plan's order: by point, scheme and seed."""
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
