"""What a comparison leaves on disk.

The same comparison leaves the same bytes: no clock, no machine, no order of arrival.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from airtcp.comparison import Comparison
from airtcp.records import Flow, Run


def write_frames(comparison: Comparison, directory: Path) -> list[Path]:
    """One Parquet file of flows, and three of time series where there are any."""
    frames = {"flows": flows_frame(comparison.runs)}
    if comparison.series:
        series = comparison.series
        frames["series"] = _stacked({scheme: of_scheme.flows for scheme, of_scheme in series.items()})
        frames["queues"] = _stacked({scheme: of_scheme.queues for scheme, of_scheme in series.items()})
        frames["events"] = _stacked({scheme: of_scheme.events for scheme, of_scheme in series.items()})
    paths = []
    for name, frame in frames.items():
        paths.append(directory / f"{name}.parquet")
        frame.write_parquet(paths[-1])
    return paths


def flows_frame(runs: Sequence[Run]) -> pl.DataFrame:
    """A row for each flow of each run. `scheme` is the one compared, `flow_scheme` the flow's own."""
    rows = [
        {"scheme": run["scheme"], "seed": run["seed"], **_renamed(flow)}
        for run in runs
        for flow in run["flows"]
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _renamed(flow: Flow) -> dict[str, object]:
    return {
        f"flow_{key}" if key in ("name", "index", "scheme") else key: value for key, value in flow.items()
    }


def _stacked(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(
        [frame.select(pl.lit(scheme).alias("scheme"), pl.all()) for scheme, frame in frames.items()]
    )
