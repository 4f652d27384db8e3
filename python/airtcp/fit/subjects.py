"""Chooses one of several paths that a file measures: `--only NAME`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import replace

from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.readers import FileError
from airtcp.fit.text import shown

_NAMED = 8


def chosen(found: Measurement | Subjects, only: str | None = None) -> Measurement:
    """Returns the path whose name is `only`, or contains it as no other does; the usual one without it.

    # Raises
    FileError: the file has several paths, and `only` says not which.
    """
    if isinstance(found, Measurement):
        return found
    if only is None:
        if found.usual is None:
            why = found.why or f"{len(found.of)} {found.what} in one file"
            raise FileError(
                f"{_source(found)}: {why} ({found.what}: {_listed(found.of)}); "
                f"to fit one of them: {_example(found)}"
            )
        return _noted(found, found.usual)
    names = _meant(found, only)
    if len(names) != 1:
        why = f"several {found.what} have that in their names" if names else f"none of its {found.what}"
        raise FileError(
            f"{_source(found)}: --only {shown(only)}: {why}; they are: {_listed(names or found.of)}"
        )
    return _noted(found, names[0])


def each(
    found: Measurement | Subjects, change: Callable[[Measurement], Measurement]
) -> Measurement | Subjects:
    """Returns the same with each path's measurement changed."""
    if isinstance(found, Measurement):
        return change(found)
    return replace(found, of={name: change(measurement) for name, measurement in found.of.items()})


def _meant(found: Subjects, only: str) -> list[str]:
    if only in found.of:
        return [only]
    return [name for name in found.of if only.strip() and only.strip().casefold() in name.casefold()]


def _noted(found: Subjects, name: str) -> Measurement:
    others = [other for other in found.of if other != name]
    note = (
        f"Of {len(found.of)} {found.what}, {shown(name)} is used; left out: {_listed(others)} "
        "(`airtcp fit --only NAME`)."
    )
    measurement = found.of[name]
    return replace(measurement, notes=(note, *measurement.notes))


def _listed(names: Iterable[str]) -> str:
    several = [shown(name) for name in names]
    return ", ".join(several[:_NAMED]) + (", …" if len(several) > _NAMED else "")


def _example(found: Subjects) -> str:
    return f"airtcp fit {shlex.quote(_source(found))} --only {shlex.quote(shown(list(found.of)[-1]))}"


def _source(found: Subjects) -> str:
    return str(next(iter(found.of.values())).source)
