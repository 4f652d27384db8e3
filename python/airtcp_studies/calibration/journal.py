"""What has been studied, a line for each path, beside the page that is made of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from airtcp_studies.calibration.advised import Worth
from airtcp_studies.calibration.claims import Claim, Told
from airtcp_studies.calibration.paths import KnownPath


@dataclass(frozen=True)
class Circumstances:
    """Of a path that really ran."""

    late_ms: float
    """Mean lateness of packets that left the emulator."""
    kernel: str
    date: str
    """As 2026-11-23."""


@dataclass(frozen=True)
class Studied:
    """One path and what fits to its measurements claimed."""

    path: KnownPath
    claims: tuple[Claim, ...]
    told: tuple[Told, ...] = ()
    worth: Worth | None = None
    """None if no advice was asked."""
    circumstances: Circumstances | None = None
    """None if it was simulated."""


class Journal:
    """Studied paths by number; a path that is drawn otherwise today counts as missing."""

    def __init__(self, file: Path, drawn: Callable[[int], KnownPath]) -> None:
        self._file = file
        self._known: dict[int, Studied] = {}
        if file.exists():
            lines = file.read_text(encoding="utf-8").splitlines()
            found = [_studied(json.loads(line)) for line in lines]
            self._known = {each.path.number: each for each in found if each.path == drawn(each.path.number)}

    @property
    def studied(self) -> list[Studied]:
        return [self._known[number] for number in sorted(self._known)]

    def missing(self, paths: int) -> list[int]:
        """Returns the numbers of those that are to be studied."""
        return [number for number in range(paths) if number not in self._known]

    def add(self, done: Studied) -> None:
        """Keeps it at once."""
        self._known[done.path.number] = done
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(_line(done))

    def tidy(self) -> None:
        """Writes the paths in order, each once."""
        self._file.write_text("".join(map(_line, self.studied)), encoding="utf-8")


def _line(done: Studied) -> str:
    fields = {key: value for key, value in asdict(done).items() if value}
    return json.dumps(fields) + "\n"


def _studied(fields: dict[str, Any]) -> Studied:
    path = {**fields["path"], "tools": tuple(fields["path"]["tools"])}
    return Studied(
        KnownPath(**path),
        tuple(Claim(**claim) for claim in fields.get("claims", ())),
        tuple(Told(**told) for told in fields.get("told", ())),
        Worth(**fields["worth"]) if "worth" in fields else None,
        Circumstances(**fields["circumstances"]) if "circumstances" in fields else None,
    )
