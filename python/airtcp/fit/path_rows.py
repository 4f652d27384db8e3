"""The rows of a table that are of one path, as round trips, losses and rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from airtcp.fit.columns import Column, Columns
from airtcp.fit.labels import Labels, codes_of
from airtcp.fit.loss_shares import as_shares, fates, packets_per_row
from airtcp.fit.measurement import (
    Direction,
    Fates,
    Flags,
    Floats,
    Measurement,
    RoundTrips,
    Throughput,
    time_of_day,
)
from airtcp.fit.quantities import Quantity
from airtcp.fit.runs import Layout, Places, lay_out
from airtcp.fit.text import shown

_NEVER = float("nan")
_MOST_PACKETS = 1 << 22
_IDLE = 0.1
"""Users who mostly send less than this share of what they sent at best did not try to fill the link."""


@dataclass
class Table:
    """A table that has been read."""

    path: Path
    format: str
    headings: Sequence[str]
    columns: Columns
    labels: list[Labels]
    rows: int
    notes: list[str] = field(default_factory=list)
    time_s: Floats = field(default_factory=lambda: np.empty(0))


class PathRows:
    """The rows and columns of one path."""

    def __init__(self, table: Table, columns: list[Column], rows: Places) -> None:
        self.table = table
        self.columns = columns
        self.rows = rows
        self.notes = list(table.notes)

    def measurement(self) -> Measurement | None:
        rates = [column for column in self.columns if column.quantity.kind == "rate"]
        if rates:
            self._leave_out_idle_rows()
        layout = self._layout()
        throughput = tuple(found for rate in rates if (found := self._throughput(rate, layout)) is not None)
        round_trips, fates = self._packets(layout, is_replayed=any(each.is_capacity for each in throughput))
        if round_trips is None and not throughput:
            return None
        return Measurement(
            source=self.table.path,
            format=self.table.format,
            round_trips=round_trips,
            fates=fates,
            throughput=throughput,
            load=self._load(throughput) if round_trips is not None else None,
            notes=tuple(self.notes),
        )

    def _leave_out_idle_rows(self) -> None:
        """Leaves out rows between transfers, if the table says which they are."""
        known = self.table.columns.table
        if known is None or known.active is None:
            return
        heading, active = known.active
        label = next(
            (each for each in self.table.labels if each.heading.lower() == heading and each.divides), None
        )
        if label is None:
            return
        codes = [code for name, code in label.names.items() if name.lower() in active]
        busy = np.isin(np.array(label.codes)[self.rows], codes)
        if busy.any() and not busy.all():
            self.notes.append(
                f"{int((~busy).sum())} rows without a transfer (`{label.heading}`) are left out."
            )
            self.rows = self.rows[busy]

    def _layout(self) -> Layout:
        runs = [each for each in self.table.labels if each.kind == "run" and each.divides]
        codes: Places | None = None
        if runs:
            _, codes = np.unique(codes_of(runs)[:, self.rows], axis=1, return_inverse=True)
            codes = codes.reshape(-1).astype(np.int64)
        layout = lay_out(self.table.time_s[self.rows], codes)
        if len(layout.begins) > 1:
            names = ", ".join(f"`{each.heading}`" for each in runs)
            how = f"column {names}" if runs else "its times begin anew"
            self.notes.append(
                f"{len(layout.begins)} runs ({how}) stand one after the other, and none is mixed."
            )
        return layout

    def _values(self, column: Column, layout: Layout) -> Floats:
        values: Floats = np.array(column.values)[self.rows][layout.order]
        return values

    def _throughput(self, column: Column, layout: Layout) -> Throughput | None:
        durations, round_trips = self._column("duration"), self._column("rtt")
        if durations is not None:
            interval_s, pauses = self._values(durations, layout), 0
        else:
            interval_s, pauses = layout.intervals()
        rate_bps = self._values(column, layout)
        some = (interval_s > 0) & np.isfinite(rate_bps)
        if not some.any():
            return None
        if pauses:
            self.notes.append(f"Pauses in `{shown(column.heading)}` are left out: {pauses}.")
        interval_s = interval_s[some]
        what = column.quantity
        is_capacity = what.is_capacity or self.table.columns.is_capacity
        if is_capacity and not what.is_capacity:
            self.notes.append(_replayed(what, column.heading))
        rate_bps = rate_bps[some]
        return Throughput(
            time_s=np.concatenate(([0.0], np.cumsum(interval_s)[:-1])),
            interval_s=interval_s,
            rate_bps=rate_bps,
            is_usage=not is_capacity and float(np.median(rate_bps)) < _IDLE * float(rate_bps.max()),
            direction=what.direction or "forward",
            is_capacity=is_capacity,
            rtt_s=self._values(round_trips, layout)[some] if round_trips else None,
        )

    def _packets(self, layout: Layout, *, is_replayed: bool) -> tuple[RoundTrips | None, tuple[Fates, ...]]:
        """Returns round trips and losses; of a link whose rates are replayed, these have the round trips."""
        column = self._column("rtt")
        rtt_s: Floats = np.full(len(layout.order), _NEVER)
        if column is not None:
            rtt_s = self._values(column, layout)
        is_row = column is not None and not is_replayed
        shares, of_losses = self._shares(np.isnan(rtt_s) & is_row, layout)
        if is_row and not (~np.isnan(rtt_s) & (shares < 1)).any():
            return None, ()
        packets = packets_per_row(shares, _MOST_PACKETS // len(shares))
        if packets > 1 and of_losses:
            self.notes.append(
                f"The losses in `{shown(of_losses.heading)}` are shares of a row's packets: each row counts "
                f"as {packets}."
            )
        step_s = float(np.median(np.diff(layout.time_s))) if len(layout.time_s) > 1 else None
        interval_s = None if step_s is None else step_s / packets
        says_losses = bool(shares.any() or of_losses)
        lost = (Fates(fates(shares, packets), "both", interval_s=interval_s),) if says_losses else ()
        if column is None or is_replayed:
            return None, lost
        if column.quantity.statistic:
            self.notes.append(
                f"Column `{shown(column.heading)}` sums up several round trips: they varied more."
            )
        if not says_losses:
            self.notes.append("No row reports a lost packet: whether any was lost is not known.")
        answered = ~np.isnan(rtt_s) & (shares < 1)
        began_s = (
            time_of_day(float(self.table.time_s[self.rows][layout.order[0]]))
            if len(layout.begins) == 1
            else None
        )
        return RoundTrips(layout.time_s[answered], rtt_s[answered], began_s=began_s), lost

    def _load(self, throughput: tuple[Throughput, ...]) -> Direction | None:
        """Returns which transfers filled the path meanwhile: those whose rate is high most of the time."""
        column = self._column("rtt")
        if column is None or "ping" in column.quantity.name or "ping" in column.heading.lower():
            return None
        busy = [each.direction for each in throughput if np.median(each.rate_bps) > each.rate_bps.max() / 2]
        if busy:
            self.notes.append(
                f"`{shown(column.heading)}` is of a path that a transfer filled: only the least counts."
            )
        return None if not busy else busy[0] if len(busy) == 1 else "both"

    def _shares(self, missing: Flags, layout: Layout) -> tuple[Floats, Column | None]:
        """Returns the lost share of each row's packets, and the column that tells it. A round trip that is
        missing is a packet lost."""
        for kind in ("lost", "arrived"):
            column = self._column(kind)
            if column is None:
                continue
            values = self._values(column, layout)
            shares, assumed = as_shares(values if kind == "lost" else 1 - values)
            if not len(shares):
                self.notes.append(f"Column `{shown(column.heading)}` is left out: its values {assumed}.")
                continue
            if assumed and column.quantity.scale == 1 and "percent" in assumed:
                self.notes.append(f"The values in `{shown(column.heading)}`, above 1, are taken for percent.")
            shares = np.where(np.isnan(shares), 0.0, shares)
            return np.where(missing & (shares == 0), 1.0, shares), column
        return missing.astype(np.float64), None

    def _column(self, kind: str) -> Column | None:
        return next((column for column in self.columns if column.quantity.kind == kind), None)


def _replayed(what: Quantity, heading: str) -> str:
    return (
        f"The {what.name} in `{shown(heading)}` is taken for what the link carries, as drive tests fill it; "
        "while its sender had less to send, the link carried more."
    )
