"""Explanations of deviating cells, in a file beside the measurement that they explain."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from airtcp_studies.fidelity.grid import Cell

FILE = "findings.toml"


@dataclass(frozen=True)
class Finding:
    """One explanation."""

    title: str
    measured: str
    """The date of the measurement that it explains."""
    cells: tuple[str, ...]
    """Patterns of cell names, e.g. `cubic: 10 Mbit/s, 200 ms, *`."""
    text: str

    def explains(self, cell: Cell) -> bool:
        return any(fnmatchcase(str(cell), pattern) for pattern in self.cells)


class FindingsError(Exception):
    """The file contains no valid findings: says why."""


def read(path: Path) -> tuple[Finding, ...]:
    """Returns nothing if there is no such file. Raises FindingsError."""
    if not path.exists():
        return ()
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("finding", [])
        return tuple(
            Finding(each["title"], str(each["measured"]), tuple(each["cells"]), each["text"].strip())
            for each in tables
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise FindingsError(f"{path}: {error!r}; a finding has title, measured, cells and text") from error


def explained(cell: Cell, findings: Sequence[Finding]) -> list[int]:
    """Returns the numbers, from 1, of the findings that explain it."""
    return [number for number, finding in enumerate(findings, 1) if finding.explains(cell)]
