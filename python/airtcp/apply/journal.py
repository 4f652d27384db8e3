"""Writes the previous state to disk before each change, so that it can be undone after a kill or a reboot.

Each line is a JSON object: first what was applied, then for each step `begin` with the previous state and
`done`, and finally `undone`. Each line is flushed to disk (fsync) before work continues.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from airtcp.apply.errors import ApplyError
from airtcp.apply.steps import KINDS, State, Step
from airtcp.apply.steps.file import sync_folder

VARIABLE = "AIRTCP_STATE"
PLACE = Path("/var/lib/airtcp")
NAME = "applied.jsonl"


@dataclass(frozen=True)
class Applied:
    """What was applied, where and when."""

    what: str
    time: str
    boot: str
    network: str
    airtcp: str
    format: int = 1


@dataclass(frozen=True)
class Entry:
    """A step that was begun and not undone."""

    number: int
    step: Step
    before: State


class Journal:
    """The locked journal of this host."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self.lock = lock

    @property
    def applied(self) -> Applied | None:
        """What was applied; None if nothing can be undone. Raises ApplyError."""
        lines = self._lines()
        return None if not lines else Applied(**lines[0])

    def entries(self) -> list[Entry]:
        """Returns the entries in the order in which they began. Raises ApplyError."""
        lines = self._lines()[1:]
        undone = {line["undone"] for line in lines if "undone" in line}
        return [
            Entry(line["begin"], _step(line), line["before"])
            for line in lines
            if "begin" in line and line["begin"] not in undone
        ]

    @property
    def is_complete(self) -> bool:
        """Whether all steps were done and checked."""
        return any("complete" in line for line in self._lines()[1:])

    def start(self, applied: Applied) -> None:
        """Starts a new journal."""
        self._write(asdict(applied))
        sync_folder(self.path.parent)

    def begin(self, number: int, step: Step, before: State) -> None:
        """Records the state before a step."""
        self._write({"begin": number, "kind": step.KIND, "step": asdict(step), "before": before})

    def done(self, number: int) -> None:
        """Records that a step is done."""
        self._write({"done": number})

    def complete(self) -> None:
        """Records that all steps are done and checked."""
        self._write({"complete": True})

    def undone(self, number: int) -> None:
        """Records that a step is undone."""
        self._write({"undone": number})

    def remove(self) -> None:
        """Removes the journal once nothing is left to undo."""
        self.path.unlink(missing_ok=True)
        sync_folder(self.path.parent)

    def _write(self, line: dict[str, Any]) -> None:
        whole = self.path.read_bytes().rfind(b"\n") + 1 if self.path.exists() else 0
        with self.path.open("ab") as file:
            # Drops a line cut off by a kill.
            file.truncate(whole)
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _lines(self) -> list[dict[str, Any]]:
        try:
            *lines, _torn = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        # Text after the last newline is incomplete, and the step that it announces never began.
        try:
            return [json.loads(line) for line in lines]
        except ValueError as error:
            raise ApplyError(f"{self.path} is damaged: {error}; undo its entries by hand") from error


def _step(line: dict[str, Any]) -> Step:
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in line["step"].items()}
    return KINDS[line["kind"]](**given)


@contextmanager
def journal(folder: Path | None = None) -> Iterator[Journal]:
    """Opens this host's journal once no other process has it, nor a program left by a killed one. Raises
    ApplyError."""
    place = folder or Path(os.environ.get(VARIABLE, PLACE))
    lock = _locked(place)
    try:
        yield Journal(place / NAME, lock)
    finally:
        # Restores the original state if nothing was kept.
        with suppress(OSError):
            place.rmdir()
        os.close(lock)


def _locked(place: Path) -> int:
    try:
        while True:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            # The previous holder may have removed the folder.
            if place.exists() and place.stat().st_ino == os.fstat(lock).st_ino:
                return lock
            os.close(lock)
    except OSError as error:
        raise ApplyError(
            f"cannot use {place}: {error.strerror}; set {VARIABLE} to a different directory"
        ) from error
