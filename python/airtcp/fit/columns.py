"""Decides which columns of a table are used, and for what."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from airtcp.fit.clock import Clock
from airtcp.fit.known_tables import KnownTable, is_drive_test, known_table
from airtcp.fit.measurement import Direction
from airtcp.fit.quantities import Kind, Quantity, quantity
from airtcp.fit.readers import FileError
from airtcp.fit.text import shown

_PREFERRED = ("", "median", "mean", "greatest", "least")
_NAMED = 12
_DATES = ("date", "day", "datum", "fecha")
_TIMES_OF_DAY = ("time", "uhrzeit", "zeit", "hora", "heure")


@dataclass
class Column:
    """A column in use."""

    place: int
    heading: str
    quantity: Quantity
    values: array[float] = field(default_factory=lambda: array("d"))
    """In seconds or bit/s; as they stand in the file while the unit is unknown. NaN if missing."""
    bare: int = 0
    """How many values had no unit of their own."""


@dataclass
class Columns:
    """The columns in use: times, and the measured quantities of each path."""

    clocks: list[tuple[int, Clock]]
    """The place and the values of the time; two if date and time of day stand apart."""
    paths: dict[str, list[Column]]
    """By the heading, or by the words of the headings that tell the paths apart."""
    notes: list[str]
    is_capacity: bool
    table: KnownTable | None

    @property
    def measured(self) -> list[Column]:
        return [column for columns in self.paths.values() for column in columns]

    @property
    def places(self) -> frozenset[int]:
        return frozenset([place for place, _ in self.clocks] + [column.place for column in self.measured])


def columns(path: Path, headings: Sequence[str]) -> Columns:
    """Chooses by the headings.

    # Raises
    FileError: no column is useful.
    """
    table = known_table(headings)
    known = {} if table is None else table.quantities
    found = [
        Column(place, heading, what)
        for place, heading in enumerate(headings)
        if (what := known.get(heading.lower(), quantity(heading) if heading.lower() not in known else None))
    ]
    notes = [f"The columns are those of {table.name}."] if table else []
    if not any(column.quantity.kind in {"rtt", "rate"} for column in found):
        # Then `time` or `time_ms` is a round trip's, as in the scenario's `series`.
        found = [_as_round_trip(each) for each in found if each.quantity.name == "time"][:1]
        found = [each for each in found if each.quantity.scale == 1e-3]
    if not found:
        raise nothing_useful(path, headings)
    clocks = _clocks([column for column in found if column.quantity.kind == "time"], notes)
    paths = _paths([column for column in found if column.quantity.kind != "time"], notes)
    return Columns(clocks, paths, notes, table is not None or is_drive_test(headings), table)


def nothing_useful(path: Path, headings: Sequence[str]) -> FileError:
    return FileError(
        f"{path}: no column gives round trips or rates, the columns are: {listed(headings)}; "
        "names are e.g. time_s, rtt_ms, lost, bandwidth_kbps"
    )


def listed(names: Sequence[str]) -> str:
    """Returns names for a message."""
    several = [shown(name) for name in names if name.strip()]
    return ", ".join(several[:_NAMED]) + (
        f" and {len(several) - _NAMED} more" if len(several) > _NAMED else ""
    )


def _as_round_trip(column: Column) -> Column:
    what = column.quantity
    return Column(column.place, column.heading, replace(what, kind="rtt", scale=what.scale or 1e-3))


def _clocks(found: list[Column], notes: list[str]) -> list[tuple[int, Clock]]:
    """Takes the first column of times; a date beside a time of day belongs to it."""
    dates = [each for each in found if each.quantity.name in _DATES and each.quantity.scale is None]
    times = [each for each in found if each not in dates]
    together = (
        [dates[0], times[0]]
        if dates and times and times[0].quantity.name in _TIMES_OF_DAY
        else (times or dates)[:1]
    )
    notes += [
        f"Column `{shown(each.heading)}` is left out: `{shown(together[0].heading)}` is used."
        for each in found
        if each not in together
    ]
    return [(each.place, Clock(each.heading, each.quantity.scale)) for each in together]


def _paths(found: list[Column], notes: list[str]) -> dict[str, list[Column]]:
    """Groups the columns by whose they are, and takes the best of those that say the same."""
    owners = list(dict.fromkeys(each.quantity.of for each in found if each.quantity.of))
    if len(owners) == 1:
        return {"": _best(found, notes)}
    common = [each for each in found if not each.quantity.of]
    measures = [_best([each for each in found if each.quantity.of == of], notes) for of in owners]
    own = [each for each in _best(common, notes) if each.quantity.kind in {"rtt", "rate"}]
    shared = [each for each in common if each.quantity.kind not in {"rtt", "rate"}]
    if own or not owners:
        notes += [
            f"Column `{shown(each.heading)}` is left out: `{shown(own[0].heading)}` is used."
            for columns in measures
            for each in columns
        ]
        return {"": _best(common, [])}
    named = {
        _name(of, columns): columns + _lone(shared) for of, columns in zip(owners, measures, strict=True)
    }
    return named if len(named) == len(owners) else dict(zip(owners, named.values(), strict=False))


def _lone(shared: list[Column]) -> list[Column]:
    return [replace(each, values=array("d")) for each in shared]


def _name(of: str, columns: list[Column]) -> str:
    return columns[0].heading if len(columns) == 1 else of


def _best(found: list[Column], notes: list[str]) -> list[Column]:
    """Returns one column for each quantity and direction."""
    chosen: dict[tuple[Kind, Direction | None], Column] = {}
    for column in sorted(found, key=_preference):
        key = column.quantity.kind, column.quantity.direction if column.quantity.kind == "rate" else None
        if key in chosen:
            notes.append(
                f"Column `{shown(column.heading)}` is left out: `{shown(chosen[key].heading)}` is used."
            )
        else:
            chosen[key] = column
    if {("rate", "forward"), ("rate", None)} <= chosen.keys():
        notes.append(f"Column `{shown(chosen['rate', None].heading)}` is left out: one has a direction.")
        del chosen["rate", None]
    return sorted(chosen.values(), key=lambda column: column.place)


def _preference(column: Column) -> tuple[bool, bool, bool, int, int]:
    """Puts what was measured before what sums it up, and an idle path's round trip before a loaded one's."""
    what = column.quantity
    return (
        what.kind == "rate" and what.scale is None,
        what.kind == "rtt" and what.direction is not None,
        bool(what.of),
        _PREFERRED.index(what.statistic),
        column.place,
    )
