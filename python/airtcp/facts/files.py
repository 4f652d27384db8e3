"""Kinds of files that are written. A name's suffix says what is in the file."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path


@dataclass(frozen=True)
class FileKind:
    """What a file holds, and the suffixes of its name."""

    words: str
    suffixes: tuple[str, ...]
    can_be_bare: bool = False
    """Whether a name without a suffix is accepted: what reads it, such as a pipe, needs none."""

    def check(self, path: str | PathLike[str]) -> None:
        """Raises ValueError for a name that promises something else."""
        suffix = Path(path).suffix.lower()
        if suffix not in self.suffixes and (suffix or not self.can_be_bare):
            raise ValueError(f"{path}: {self.words}; name a file ending in {' or '.join(self.suffixes)}")


REPORT = FileKind("a report is an HTML page", (".html", ".htm"))
PLAYGROUND = FileKind("the playground is an HTML page", REPORT.suffixes)
RESULTS = FileKind("results are written as JSON", (".json",), can_be_bare=True)
SERIES = FileKind("time series are written as Parquet or CSV", (".parquet", ".csv"))
CAPTURE = FileKind("packets are written as pcapng", (".pcapng",), can_be_bare=True)
SCENARIO = FileKind("a scenario is a TOML file", (".toml",), can_be_bare=True)
