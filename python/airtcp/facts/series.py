"""Time series of one run as data frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from airtcp._engine import Record, Scenario
from airtcp.facts.files import SERIES
from airtcp.facts.records import Flow, Run

Columns = dict[str, npt.NDArray[np.float64] | npt.NDArray[np.uint64] | list[str]]
"""Columns of equal length, by name."""
Parts = Mapping[str, Mapping[str, Sequence[Any] | npt.NDArray[Any]]]
"""Columns of the parts of a `Series`, by their names there; flows and links by index, times in ns."""


SERIES_POINTS = 1500
"""Points of a time series in figures: more than print can show."""
NO_SERIES = "no time series were recorded: run with series=True"


@dataclass(frozen=True)
class Series:
    """Time series of one run. Times are in seconds; flows and links have their names."""

    flows: pl.DataFrame
    """A row per measured flow and sample: cwnd, ssthresh, SRTT, RTO, positions, arrival rate.

    `rtt_min_s` and `rtt_max_s` are the extremes measured since the flow's previous row.
    """
    queues: pl.DataFrame
    """A row per link, direction and sample."""
    events: pl.DataFrame
    """A row per loss, retransmission and timeout; one for the duplicate ACKs of each sampling interval."""
    deliveries: pl.DataFrame
    """A row per measured flow and sample: the bytes received so far, over all its connections."""
    rtts: pl.DataFrame
    """Histogram of each measured flow's RTTs after the warm-up, within 0.4 %."""


def series_of(record: Record, run: Run) -> Series:
    """Returns the series of `record`, whose contents are `run`."""
    return series_of_parts(_parts(record), run)


def series_of_parts(parts: Parts, run: Run) -> Series:
    """Returns the series of parts read from JSON, where a list may be empty or contain only null."""
    flows = [flow_name(flow, run["flows"]) for flow in run["flows"]]
    links = [f"{link['name']} {link['direction']}" for link in run["links"]]
    names = {"flows": flows, "queues": links, "events": flows, "deliveries": flows, "rtts": flows}
    keys = {"queues": "link"}
    return Series(
        **{
            # A missing value is null; NaN would be taken for a number.
            part: _frame(
                pl.DataFrame(parts[part], schema=schema, nan_to_null=True),
                keys.get(part, "flow"),
                names[part],
            )
            for part, schema in _schemas().items()
        }
    )


def flow_name(flow: Flow, flows: Sequence[Flow]) -> str:
    """Returns the flow's name, numbered if several flows share it."""
    alike = sum(other["name"] == flow["name"] for other in flows)
    return f"{flow['name']} {flow['index'] + 1}" if alike > 1 else flow["name"]


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """Writes CSV or Parquet, according to the file's suffix. Raises ValueError for another one."""
    SERIES.check(path)
    is_csv = path.suffix.lower() == ".csv"
    write: Callable[[Path], object] = frame.write_csv if is_csv else frame.write_parquet
    write(path)


def _parts(record: Record) -> Parts:
    return {
        "flows": record.flow_series(),
        "queues": record.queue_series(),
        "events": record.event_series(),
        "deliveries": record.delivery_series(),
        "rtts": record.rtt_counts(),
    }


@cache
def _schemas() -> dict[str, pl.Schema]:
    """Returns the columns and their types of a run that recorded nothing."""
    scenario = Scenario.built_in([("duration", "1ms")])
    nothing = scenario.run(scenario.schemes[0], scenario.seed)
    empty = {part: pl.DataFrame(columns) for part, columns in _parts(nothing).items()}
    return {
        part: pl.Schema({name: pl.String if kind == pl.Null else kind for name, kind in frame.schema.items()})
        for part, frame in empty.items()
    }


def _frame(frame: pl.DataFrame, key: str, names: Sequence[str]) -> pl.DataFrame:
    """Converts nanoseconds to seconds, and the index `key` to one of `names`."""
    named = pl.Series(key, names, dtype=pl.String).gather(frame[key])
    return pl.DataFrame(
        [
            named if column.name == key else _in_seconds(column) if column.name.endswith("_ns") else column
            for column in frame
        ]
    )


def _in_seconds(column: pl.Series) -> pl.Series:
    return (column / 1e9).alias(column.name.removesuffix("_ns") + "_s")
