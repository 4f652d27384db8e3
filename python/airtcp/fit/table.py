"""Turns the columns of a table into measurements, one for each path that it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from airtcp.fit.columns import Column, listed, nothing_useful
from airtcp.fit.evidence import LEAST_DIFFERS, NEAR_S
from airtcp.fit.labels import Labels, codes_of
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.path_rows import PathRows, Table
from airtcp.fit.readers import FileError
from airtcp.fit.runs import USUAL_STEP_S, Places
from airtcp.fit.text import shown

_MOST_PATHS = 256
_SOUNDS_USEFUL = re.compile(r"rtt|ping|latenc|latenz|delay|loss|drop|jitter|throughput|bps", re.IGNORECASE)
"""Named first of the columns that are not used."""
_ENOUGH_ROWS = 10
_MILLISECOND_S = 1e-3
_ROUNDED_S = 2e-3
"""Beside a round trip this short, another one may have been rounded to 0."""
_MILLISECONDS = (1.0, 10_000.0)
"""Round trips without a unit whose median is between are in ms: in s or µs they would hardly be any."""


def several_paths(table: Table) -> Measurement | Subjects:
    """Returns what the table shows of each path.

    # Raises
    FileError: a unit or the order of a date is unknown, or no row shows anything.
    """
    table.notes += table.columns.notes
    _settle_units(table)
    _settle_times(table)
    by = _telling(table)
    _note_unused(table, by)
    found: dict[str, Measurement] = {}
    for label, rows in _row_groups(table, by):
        for name, columns in table.columns.paths.items():
            measured = PathRows(table, columns, rows).measurement()
            if measured is not None:
                found["/".join(part for part in (label, name) if part)] = measured
    if not found:
        raise FileError(f"{table.path}: no row has a round trip or a rate")
    if len(found) == 1:
        return next(iter(found.values()))
    what = f"paths ({', '.join(each.heading for each in by)})" if by else "columns"
    return Subjects(what, found)


def _settle_units(table: Table) -> None:
    for column in table.columns.measured:
        what = column.quantity
        if what.name == "time" and len(table.headings) > 1 and _increases(column):
            # The time at which something else was measured, which has no name that is known.
            raise nothing_useful(table.path, table.headings)
        if what.kind == "rtt":
            _leave_out_stand_ins(table, column)
        if what.scale is not None or not column.bare:
            continue
        if what.kind == "rate":
            names = listed([f"{what.name}_{meaning}" for meaning in what.meanings])
            raise FileError(
                f"{table.path}: column `{shown(column.heading)}` has no unit that is certain; rename it to "
                f"what it is: {names}"
                + ("; or remove it, if it is a vehicle's speed" if what.name == "speed" else "")
            )
        values = np.array(column.values)
        middle = float(np.nanmedian(values)) if np.isfinite(values).any() else _MILLISECONDS[0]
        if what.kind == "rtt" and not _MILLISECONDS[0] <= middle < _MILLISECONDS[1]:
            raise FileError(
                f"{table.path}: column `{shown(column.heading)}` has no unit, and its values "
                f"({middle:.4g}) could be s, ms or µs; rename it to what it is: "
                f"{what.name}_s, {what.name}_ms, {what.name}_us"
            )
        scale, unit = (1e-3, "ms") if what.kind == "rtt" else (1.0, "s")
        table.notes.append(f"Column `{shown(column.heading)}` has no unit: {unit} are assumed.")
        column.quantity = replace(what, scale=scale)
        column.values = type(column.values)("d", values * scale)


def _leave_out_stand_ins(table: Table, column: Column) -> None:
    """Takes what is no round trip for a packet without an answer; many programs write -1 or 0."""
    values = np.array(column.values)
    is_scaled = column.quantity.scale is not None
    least = float(np.min(values[values > 0], initial=np.inf)) * (1.0 if is_scaled else _MILLISECOND_S)
    stands_in = (values < 0) | ((values == 0) & (least > _ROUNDED_S))
    if stands_in.any():
        table.notes.append(
            f"{int(stands_in.sum())} values in `{shown(column.heading)}` are negative or 0, and no round "
            "trips: they count as packets without an answer."
        )
        column.values = type(column.values)("d", np.where(stands_in, np.nan, values))


def _increases(column: Column) -> bool:
    steps = np.diff(np.array(column.values))
    return len(steps) > 0 and bool((steps > 0).all())


def _settle_times(table: Table) -> None:
    if table.columns.clocks:
        table.time_s, notes = table.columns.clocks[0][1].seconds(table.path)
        table.notes += notes
        return
    durations = next((c for c in table.columns.measured if c.quantity.kind == "duration"), None)
    if durations is not None:
        table.time_s = np.concatenate(([0.0], np.cumsum(np.array(durations.values)[:-1])))
        return
    table.notes.append("The file has no times: 1 s from row to row is assumed.")
    table.time_s = np.arange(table.rows, dtype=np.float64) * USUAL_STEP_S


def _telling(table: Table) -> list[Labels]:
    """Returns the columns that tell paths apart, without those that say the same as others."""
    by: list[Labels] = []
    groups = 1
    for each in table.labels:
        if not each.divides or each.kind == "run" or (each.kind == "unknown" and not _differ(table, each)):
            continue
        more = len(np.unique(codes_of([*by, each]), axis=1).T)
        if groups < more <= _MOST_PATHS:
            by.append(each)
            groups = more
    return by


def _differ(table: Table, label: Labels) -> bool:
    """Returns whether the least round trips differ by what no queue explains."""
    codes = np.array(label.codes)
    for column in table.columns.measured:
        if column.quantity.kind != "rtt":
            continue
        rtt_s = np.array(column.values)
        groups = [rtt_s[(codes == code) & np.isfinite(rtt_s)] for code in range(len(label.names))]
        least = [float(group.min()) for group in groups if len(group) >= _ENOUGH_ROWS]
        if len(least) > 1 and max(least) > max(LEAST_DIFFERS * min(least), min(least) + NEAR_S):
            return True
    return False


def _row_groups(table: Table, by: list[Labels]) -> Iterator[tuple[str, Places]]:
    if not by:
        yield "", np.arange(table.rows, dtype=np.int64)
        return
    codes, first, inverse = np.unique(codes_of(by), axis=1, return_index=True, return_inverse=True)
    names = [list(each.names) for each in by]
    for group in np.argsort(first):
        label = "/".join(name[code] for name, code in zip(names, codes[:, group], strict=True))
        yield label or "(empty)", np.flatnonzero(inverse.reshape(-1) == group)


def _note_unused(table: Table, by: list[Labels]) -> None:
    used = table.columns.places | {each.place for each in by}
    used |= {
        each.place
        for each in table.labels
        if each.is_of_names and (len(each.names) < 2 or each.kind == "run")
    }
    noted = " ".join(table.notes)
    unused = [
        heading
        for place, heading in enumerate(table.headings)
        if place not in used and f"Column `{shown(heading)}`" not in noted
    ]
    unused.sort(key=lambda heading: _SOUNDS_USEFUL.search(heading) is None)
    if unused:
        table.notes.append(f"Columns that are not used: {listed(unused)}.")
