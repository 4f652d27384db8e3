"""Results as data frames, with the same columns however few rows there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import polars as pl

from airtcp.facts.agreement import Pair
from airtcp.facts.records import Circuit, Flow, Link, Run
from airtcp.facts.series import Series
from airtcp.facts.stats import Estimate
from airtcp.facts.summary import SchemeSummary

_KEYS = {"scheme": pl.String, "seed": pl.Int64}
_TYPES: dict[Any, Any] = {bool: pl.Boolean, int: pl.Int64, float: pl.Float64, str: pl.String}


def summary_frame(summaries: Sequence[SchemeSummary], best: Sequence[str]) -> pl.DataFrame:
    """Returns a row per scheme; the bounds of the intervals are null with a single seed."""
    rows = [
        {
            "scheme": row.scheme,
            "runs": len(row.seeds),
            **_interval("goodput", "_bps", row.goodput),
            "share_of_bound": row.share_of_bound,
            **_interval("gain", "", row.gain),
            "retransmitted": row.retransmitted,
            "timeouts": row.timeouts,
            "timeouts_spurious": row.spurious_timeouts,
            "rtt_p50_ms": row.rtt_p50_ms,
            "rtt_p95_ms": row.rtt_p95_ms,
            "jain_index": row.jain,
            **_interval("completion", "_s", row.completion),
            "completion_p95_s": row.completion_p95_s,
            "best": row.scheme in best,
        }
        for row in summaries
    ]
    kinds = {"scheme": pl.String, "runs": pl.Int64, "best": pl.Boolean}
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(
        pl.col(name).cast(kinds.get(name, pl.Float64)) for name in (rows[0] if rows else ())
    )


def _interval(name: str, unit: str, value: Estimate | None) -> dict[str, float | None]:
    known = value or Estimate(float("nan"), None, 0)
    mean = value.mean if value else None
    return {f"{name}{unit}": mean, f"{name}_low{unit}": known.low, f"{name}_high{unit}": known.high}


def ratio_frame(pairs: Sequence[Pair]) -> pl.DataFrame:
    """Returns a row per scheme that ran both in the simulator and on the kernel."""
    rows = [
        {
            "scheme": pair.scheme,
            **_interval("ratio", "", pair.ratio),
            **_interval("goodput_sim", "_bps", pair.sim.goodput),
            **_interval("goodput_linux", "_bps", pair.linux.goodput),
            **_interval("completion_sim", "_s", pair.sim.completion),
            **_interval("completion_linux", "_s", pair.linux.completion),
            **{
                f"{name}_{where}": getattr(row, name)
                for name in _OF_EACH
                for where, row in (("sim", pair.sim), ("linux", pair.linux))
            },
        }
        for pair in pairs
    ]
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(
        pl.col(name).cast(pl.String if name == "scheme" else pl.Float64) for name in (rows[0] if rows else ())
    )


_OF_EACH = ("retransmitted", "timeouts", "rtt_p50_ms", "rtt_p95_ms")


def flows_frame(runs: Sequence[Run]) -> pl.DataFrame:
    """Returns a row per flow and run. `scheme` is the one compared, `flow_scheme` the flow's own."""
    return _records("flow", Flow, ((run, run["flows"]) for run in runs))


def links_frame(runs: Sequence[Run]) -> pl.DataFrame:
    """Returns a row per link, direction and run."""
    return _records("link", Link, ((run, run["links"]) for run in runs))


def circuits_frame(runs: Sequence[Run]) -> pl.DataFrame:
    """Returns a row per TCP circuit and run."""
    return _records("circuit", Circuit, ((run, run["circuits"]) for run in runs))


def stacked(all_series: Mapping[tuple[str, int], Series], part: str) -> pl.DataFrame:
    """Returns one part of several runs' time series, with columns for scheme and seed."""
    frames: list[pl.DataFrame] = [
        getattr(series, part).select(
            pl.lit(scheme).alias("scheme"), pl.lit(seed, pl.Int64).alias("seed"), pl.all()
        )
        for (scheme, seed), series in all_series.items()
    ]
    return pl.concat(frames)


def write_frames(frames: Mapping[str, pl.DataFrame], directory: Path) -> list[Path]:
    """Writes a Parquet file each."""
    paths = [directory / f"{name}.parquet" for name in frames]
    for path, frame in zip(paths, frames.values(), strict=True):
        frame.write_parquet(path)
    return paths


def _records(
    what: str, kind: type[Any], runs: Iterable[tuple[Run, Sequence[Flow | Link | Circuit]]]
) -> pl.DataFrame:
    """Returns the records as rows. A column that the run has too is prefixed with its owner."""
    names = {
        field: f"{what}_{field}" if field in ("name", "index", "scheme") else field
        for field in get_type_hints(kind)
    }
    rows = [
        {"scheme": run["scheme"], "seed": run["seed"]}
        | {names[field]: value for field, value in record.items()}
        for run, records in runs
        for record in records
    ]
    columns = {names[field]: _type(hint) for field, hint in get_type_hints(kind).items()}
    return pl.DataFrame(rows, schema={**_KEYS, **columns})


def _type(hint: Any) -> Any:
    if get_origin(hint) is UnionType:
        (hint,) = (option for option in get_args(hint) if option is not NoneType)
    return pl.List(_type(get_args(hint)[0])) if get_origin(hint) is list else _TYPES[hint]
