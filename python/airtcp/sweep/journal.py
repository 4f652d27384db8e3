"""The journal of a sweep: each finished run is on disk before it counts.

Each line is a checksum and JSON. The first identifies the sweep; the others are batches of runs. A line cut
off at the end of the process is invalid and is overwritten.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import IO, Any
from zlib import crc32

from airtcp.sweep.errors import SweepError
from airtcp.sweep.rows import MEASURES, Found

NAME = "journal.jsonl"
DIGESTS = ("scenario", "controllers")
"""Parts of the identity that mean nothing to a reader."""
SYNC_EVERY_S = 2.0
"""What a power failure may cost. A process that is killed loses nothing that it has written."""


class Journal:
    """The runs of one sweep, in the file `journal.jsonl` of a directory that no other process writes to."""

    def __init__(self, directory: Path, identity: Mapping[str, Any], *, fresh: bool = False) -> None:
        """`identity` lists by name what must be equal for runs to count. Raises SweepError and OSError."""
        self.path = directory / NAME
        self._synced_s = monotonic()
        # Opened unchanged: a process that does not get the lock must not change it.
        self._file = self.path.open("a+b")
        try:
            _lock(self._file, directory)
            if fresh:
                self._file.truncate(0)
            self.found = self._read(dict(identity))
        except BaseException:
            self._file.close()
            raise

    def add(self, found: Iterable[tuple[int, Found]]) -> None:
        self._write([[place, list(row) if isinstance(row, tuple) else row] for place, row in found])
        if monotonic() > self._synced_s + SYNC_EVERY_S:
            self._sync()

    def close(self) -> None:
        with suppress(ValueError):
            self._sync()
        self._file.close()

    def _read(self, identity: dict[str, Any]) -> dict[int, Found]:
        """Returns the file's contents, and truncates it after the last whole line."""
        self._file.seek(0)
        lines = _valid_lines(self._file)
        header, end = next(lines, (None, 0))
        if header is None:
            _check_torn(self._file, self.path)
            self._file.truncate(0)
            self._write(identity)
            self._sync()
            return {}
        _check_identity(header, identity, self.path)
        found = dict[int, Found]()
        for rows, end_of_line in lines:
            end = end_of_line
            for place, row in rows:
                found[place] = row if isinstance(row, str) else _row(row, self.path)
        self._file.truncate(end)
        return found

    def _write(self, value: object) -> None:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        self._file.write(b"%08x %s\n" % (crc32(text), text))
        self._file.flush()

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced_s = monotonic()


def _lock(file: IO[bytes], directory: Path) -> None:
    """The kernel releases the lock when the process ends, however it ends. Windows has no such lock."""
    try:
        import fcntl  # noqa: PLC0415
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SweepError(
            f"another sweep is running in {directory}: wait for it, or choose a different --out"
        ) from None


def _valid_lines(file: IO[bytes]) -> Iterator[tuple[Any, int]]:
    """Yields the contents of the lines up to the first invalid one, each with the offset of its end."""
    end = 0
    for line in file:
        checksum, _, text = line.rstrip(b"\n").partition(b" ")
        if not line.endswith(b"\n") or checksum != b"%08x" % crc32(text):
            return
        end += len(line)
        yield json.loads(text), end


def _check_torn(file: IO[bytes], path: Path) -> None:
    """Checks that only an unfinished first line is overwritten."""
    file.seek(0)
    if file.readline().endswith(b"\n"):
        raise SweepError(f"{path} is not a sweep journal, or is damaged; start over with --fresh")


def _row(cells: list[Any], path: Path) -> Found:
    if len(cells) != len(MEASURES):
        raise SweepError(f"{path} was written by a different version of airtcp; start over with --fresh")
    return tuple(cells)


def _check_identity(before: Mapping[str, Any], now: Mapping[str, Any], path: Path) -> None:
    for name, value in now.items():
        if before.get(name) != value:
            change = "" if name in DIGESTS else f" (from {_short(before.get(name))} to {_short(value)})"
            raise SweepError(
                f"{path.parent} contains the runs of another sweep: {name} changed{change}. "
                "Choose a different --out, or start over with --fresh, which discards those runs"
            )


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"
