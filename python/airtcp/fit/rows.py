"""Reads rows with named columns, from CSV or JSON: round trips, losses, rates."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from airtcp.fit import dates
from airtcp.fit.measurement import Fates, Flags, Floats, Measurement, RoundTrips, Throughput
from airtcp.fit.quantities import Kind, Quantity, quantity
from airtcp.fit.readers import FileError
from airtcp.fit.text import shown

MAX_ROWS = 1 << 22
"""Limit per file; 130 MB."""

_NEVER = float("nan")
_MISSING = frozenset(
    ("", "-", "--", "*", "nan", "na", "n/a", "null", "none", "lost", "timeout", "timed out", "inf")
)
_FLAGS = {"1": 1.0, "true": 1.0, "yes": 1.0, "lost": 1.0, "0": 0.0, "false": 0.0, "no": 0.0}
_USUAL_INTERVAL_S = 1.0
_LONGEST_RTT_S = 1e5
# Seconds since 1970 have 10 digits, milliseconds 13, microseconds 16.
_EPOCHS = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))


@dataclass
class Column:
    """A column in use."""

    place: int
    heading: str
    quantity: Quantity
    values: array[float] = field(default_factory=lambda: array("d"))


class Rows:
    """The contents of the rows that are kept."""

    def __init__(self, path: Path, headings: Sequence[str], *, has_decimal_comma: bool = False) -> None:
        """# Raises
        FileError: no column is useful."""
        self.path = path
        self.has_decimal_comma = has_decimal_comma
        self.notes: list[str] = []
        self.columns = self._chosen(headings)

    def take(self, values: Sequence[object]) -> bool:
        """Adds a row; returns False if it cannot be read."""
        numbers = []
        for column in self.columns:
            value = values[column.place] if column.place < len(values) else ""
            number = self._number(column, value)
            if number is None:
                return False
            numbers.append(number)
        for column, number in zip(self.columns, numbers, strict=True):
            column.values.append(number)
        return True

    @property
    def is_full(self) -> bool:
        return len(self.columns[0].values) >= MAX_ROWS

    def measurement(self, format: str) -> Measurement:  # noqa: A002 the field's name
        """Returns what the rows show, without what was skipped.

        # Raises
        FileError: no row shows anything.
        """
        if not self.columns[0].values:
            raise FileError(f"{self.path}: there are no rows under the heading")
        time_s = self._times()
        rates = [column for column in self.columns if column.quantity.kind == "rate"]
        throughput = tuple(self._throughput(column, time_s) for column in rates)
        round_trips, fates = (None, ()) if rates else self._packets(time_s)
        if round_trips is None and not rates:
            raise FileError(f"{self.path}: no row has a round trip")
        return Measurement(
            source=self.path,
            format=format,
            round_trips=round_trips,
            fates=fates,
            throughput=throughput,
            notes=tuple(self.notes),
        )

    def _chosen(self, headings: Sequence[str]) -> list[Column]:
        found = [
            Column(place, heading, known)
            for place, heading in enumerate(headings)
            if (known := quantity(heading)) is not None
        ]
        kinds = {column.quantity.kind for column in found}
        if not kinds & {"rtt", "rate"}:
            # Then `time` or `time_ms` is a round trip's, as in the scenario's `series`.
            found = [
                Column(column.place, column.heading, Quantity("rtt", "time", column.quantity.scale or 1e-3))
                for column in found
                if column.quantity.name == "time" and column.quantity.scale in {None, 1e-3}
            ][:1]
        if not found:
            raise FileError(
                f"{self.path}: no column gives round trips or rates, the columns are: "
                f"{shown(', '.join(headings[:12]))}; names are e.g. time_s, rtt_ms, lost, bandwidth_kbps"
            )
        return self._without_doubles(found)

    def _without_doubles(self, columns: list[Column]) -> list[Column]:
        chosen: dict[tuple[Kind, str | None], Column] = {}
        for column in columns:
            known = column.quantity
            key = (known.kind, known.direction if known.kind == "rate" else None)
            if key in chosen:
                self.notes.append(f"Column `{column.heading}` is left out: `{chosen[key].heading}` is used.")
            elif known.kind == "rate" and known.scale is None:
                raise FileError(
                    f"{self.path}: column `{column.heading}` has no unit; name it e.g. {known.name}_kbps or "
                    f"{known.name}_mbps"
                )
            else:
                chosen[key] = column
        if {("rate", "forward"), ("rate", None)} <= chosen.keys():
            del chosen["rate", None]
        if any(kind == "rate" for kind, _ in chosen):
            chosen = {key: column for key, column in chosen.items() if key[0] not in {"lost", "arrived"}}
        return list(chosen.values())

    def _number(self, column: Column, value: object) -> float | None:
        """Returns seconds or bit/s; NaN if missing, None if unreadable."""
        kind = column.quantity.kind
        if isinstance(value, bool):
            return float(value) if kind in {"lost", "arrived"} else None
        if isinstance(value, int | float):
            number = finite(value)
        else:
            text = str(value).strip().lower() if value is not None else ""
            if kind in {"lost", "arrived"} and text in _FLAGS:
                return _FLAGS[text]
            if text in _MISSING:
                return _NEVER if kind in {"rtt", "lost", "arrived"} else None
            number = self._parsed(text, kind)
        if number is None or (number < 0 and kind != "time"):
            return None
        number *= column.quantity.scale or (1e-3 if kind == "rtt" else 1.0)
        return None if kind == "rtt" and number > _LONGEST_RTT_S else number

    def _parsed(self, text: str, kind: Kind) -> float | None:
        if self.has_decimal_comma:
            text = text.replace(",", ".")
        try:
            return finite(float(text))
        except ValueError:
            return dates.seconds(text) if kind == "time" else None

    def _times(self) -> Floats:
        """Returns the time of each row, in seconds since the first."""
        column = self._column("time")
        if column is None:
            return self._added_up()
        times = np.array(column.values)
        if column.quantity.scale is None:
            greatest = float(np.abs(times).max())
            times = times * next((scale for least, scale in _EPOCHS if greatest > least), 1.0)
        since: Floats = times - times.min()
        return since

    def _added_up(self) -> Floats:
        durations = self._column("duration")
        if durations is None:
            self.notes.append("The file has no times: 1 s from row to row is assumed.")
            return np.arange(len(self.columns[0].values), dtype=np.float64) * _USUAL_INTERVAL_S
        return np.concatenate(([0.0], np.cumsum(np.array(durations.values)[:-1])))

    def _throughput(self, column: Column, time_s: Floats) -> Throughput:
        order = np.argsort(time_s, kind="stable")
        time_s = time_s[order]
        durations, round_trips = self._column("duration"), self._column("rtt")
        if durations is not None:
            interval_s: Floats = np.array(durations.values)[order]
        else:
            steps = np.diff(time_s)
            usual = float(np.median(steps)) if len(steps) else _USUAL_INTERVAL_S
            interval_s = np.append(steps, usual)
        some = interval_s > 0
        if not some.any():
            raise FileError(f"{self.path}: no interval has a length above 0")
        return Throughput(
            time_s=time_s[some],
            interval_s=interval_s[some],
            rate_bps=np.array(column.values)[order][some],
            direction=column.quantity.direction or "forward",
            is_capacity=column.quantity.is_capacity,
            rtt_s=np.array(round_trips.values)[order][some] if round_trips else None,
        )

    def _packets(self, time_s: Floats) -> tuple[RoundTrips | None, tuple[Fates, ...]]:
        order = np.argsort(time_s, kind="stable")
        time_s = time_s[order]
        column = self._column("rtt")
        rtt_s: Floats = np.array(column.values)[order] if column else np.full(len(time_s), _NEVER)
        lost = self._lost(np.isnan(rtt_s), order)
        answered = ~np.isnan(rtt_s) & ~lost
        if not answered.any():
            return None, ()
        interval_s = float(np.median(np.diff(time_s))) if len(time_s) > 1 else None
        says_losses = lost.any() or self._column("lost") or self._column("arrived")
        fates = (Fates(lost, "both", interval_s=interval_s),) if says_losses else ()
        if not says_losses:
            self.notes.append("No row reports a lost packet: whether any was lost is not known.")
        return RoundTrips(time_s[answered], rtt_s[answered]), fates

    def _lost(self, missing: Flags, order: npt.NDArray[np.int64]) -> Flags:
        for kind, when_lost in (("lost", 1.0), ("arrived", 0.0)):
            column = self._column(kind)
            if column is None:
                continue
            flags = np.array(column.values)[order]
            if np.isin(flags, (0.0, 1.0)).all():
                marked: Flags = missing | (flags == when_lost)
                return marked
            self.notes.append(f"Column `{column.heading}` is no flag (0 or 1) of each packet, and left out.")
        return missing

    def _column(self, kind: str) -> Column | None:
        return next((column for column in self.columns if column.quantity.kind == kind), None)


def finite(value: float) -> float | None:
    """Returns a float; None for an unusable number."""
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
