"""One module per format. Each declares `READER` and is found automatically."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from airtcp.fit.measurement import Measurement, Subjects


class FileError(ValueError):
    """A file that cannot be read as a measurement: says which, where, why and what would help."""


@dataclass(frozen=True)
class Reader:
    """A format."""

    name: str
    """The name for `airtcp fit --format`, e.g. `ping`."""
    summary: str
    """A line for `airtcp fit --help`: the format and how to produce it, e.g. `ping LINK | tee ping.log`."""
    recognises: Callable[[bytes], float]
    """Returns how well a file's first 64 KiB match: 0 is no, 1 is certain."""
    read: Callable[[Path], Measurement | Subjects]
    """Reads a file of any size in bounded memory (for text: a line at a time); Subjects if it is of several
    paths. Raises FileError."""


@cache
def readers() -> tuple[Reader, ...]:
    """Returns every format, by name."""
    found = [
        reader
        for module in pkgutil.iter_modules(__path__)
        if (reader := getattr(import_module(f"{__name__}.{module.name}"), "READER", None)) is not None
    ]
    return tuple(sorted(found, key=lambda reader: reader.name))
