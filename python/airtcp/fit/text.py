"""Reads the lines of a text file of any size and encoding, in bounded memory."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from airtcp.fit.measurement import Skipped
from airtcp.fit.readers import FileError

HEAD_BYTES = 64 * 1024
LONGEST_LINE = 2000
"""In characters. No line of a measurement is longer; longer lines are skipped."""

_SHOWN = 60
_CHECK_EACH = 1 << 15
_GZIP = b"\x1f\x8b"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass
class Skips:
    """Counts lines that were not understood, and decides when they are too many."""

    what: str
    """The expected contents, e.g. `output of ping`."""
    unit: str = "line"
    units: str = "lines"
    count: int = 0
    first: str = ""
    lines: int = 0
    """All lines with content, understood or not."""

    def add(self, number: int, text: str) -> None:
        self.count += 1
        if not self.first:
            self.first = f"{self.unit} {number}: `{shown(text)}`"

    def include(self, others: Skips) -> None:
        """Adds the counts of `others`."""
        self.count += others.count
        self.first = self.first or others.first

    def skipped(self) -> Skipped | None:
        return Skipped(self.count, self.first) if self.count else None

    def check(self, path: Path) -> None:
        """
        # Raises
        FileError if more than half of the lines are foreign.
        """
        if self.count * 2 > self.lines:
            raise FileError(
                f"{path}: {self.count} of {self.lines} {self.units} are not {self.what}, "
                f"the first is {self.first}; the file is mixed or of another format"
            )


def shown(text: str) -> str:
    """Returns as much of the text as fits into a message, without control characters."""
    text = "".join(letter if letter.isprintable() else "·" for letter in text[: _SHOWN + 1].strip())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


@dataclass
class TextFile:
    """A text in UTF-8 or UTF-16, plain or gzipped."""

    path: Path
    skips: Skips
    notes: list[str] = field(default_factory=list)
    characters: int = 0
    """Characters read by `more`."""
    is_cut: bool = False
    """The last line read has no end: it is the file's last one and may be incomplete."""
    is_plain: bool = False
    """UTF-8 without a byte order mark, not gzipped: what the engine reads too. Known once reading has begun.
    """

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yields each non-blank line, stripped, with its number from 1. Overlong lines count as skipped.

        # Raises
        FileError if the file cannot be opened, or if most of a long file is foreign.
        """
        skips = self.skips
        with self.open() as stream:
            number = 0
            while piece := self._readline(stream):
                number += 1
                self.is_cut = piece[-1] != "\n"
                if number % _CHECK_EACH == 0:
                    skips.check(self.path)
                if len(piece) == LONGEST_LINE and piece[-1] != "\n":
                    skips.lines += 1
                    skips.add(number, piece)
                    self._leave_line(stream)
                elif line := piece.strip():
                    skips.lines += 1
                    yield number, line

    def more(self, stream: io.TextIOBase, most: int) -> str:
        """Returns at most `most` more characters."""
        try:
            text = stream.read(most)
            self.characters += len(text)
            return text
        except (EOFError, zlib.error, OSError) as error:
            self._broken(error)
            return ""

    def open(self) -> io.TextIOWrapper:
        """# Raises
        FileError if the file cannot be opened."""
        try:
            raw = self.path.open("rb")
        except OSError as error:
            raise FileError(f"{self.path}: {error.strerror or error}") from error
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        plain: BinaryIO = raw
        if packed:
            # It closes only files that it has opened itself.
            raw.close()
            plain = cast(BinaryIO, gzip.GzipFile(self.path))
        buffered = io.BufferedReader(cast(io.RawIOBase, plain), HEAD_BYTES)
        try:
            encoding, mark = encoding_of(buffered.peek(4)[:4])
        except (EOFError, zlib.error, OSError) as error:
            raise FileError(f"{self.path}: not a gzip file after all: {error}") from error
        buffered.read(mark)
        self.is_plain = not packed and not mark
        return io.TextIOWrapper(buffered, encoding, errors="replace", newline=None)

    def _readline(self, stream: io.TextIOWrapper) -> str:
        try:
            return stream.readline(LONGEST_LINE)
        except (EOFError, zlib.error, OSError) as error:
            self._broken(error)
            return ""

    def _leave_line(self, stream: io.TextIOWrapper) -> None:
        while (piece := self._readline(stream)) and piece[-1] != "\n":
            pass

    def _broken(self, error: Exception) -> None:
        self.notes.append(f"The file breaks off: {error}. What stands before is used.")


def encoding_of(start: bytes) -> tuple[str, int]:
    """Returns the encoding by the byte order mark, and the mark's length; UTF-8 without one."""
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return encoding, len(mark)
    return "utf-8", 0


def head(path: Path) -> bytes:
    """Returns the first 64 KiB, unpacked, and as UTF-8 without a mark if it is text.

    # Raises
    OSError.
    """
    with path.open("rb") as file:
        start = file.read(HEAD_BYTES)
    if start.startswith(_GZIP):
        start = _unpacked(start)
    encoding, mark = encoding_of(start)
    if encoding == "utf-8":
        return start[mark:]
    return start[mark:].decode(encoding, "replace").encode()


def is_packed(path: Path) -> bool:
    """Returns whether the file is gzipped.

    # Raises
    OSError.
    """
    with path.open("rb") as file:
        return file.read(2) == _GZIP


def _unpacked(packed: bytes) -> bytes:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed, HEAD_BYTES)
    except zlib.error:
        return packed
