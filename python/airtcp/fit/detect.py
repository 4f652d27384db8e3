"""Detects a file's format and reads it."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from airtcp.fit.foreign import foreign
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.readers import FileError, Reader, readers
from airtcp.fit.subjects import chosen
from airtcp.fit.text import head, is_packed

_NUMBER = re.compile(r"[-+]?\d{1,20}(?:\.\d{0,20})?(?:[eE][-+]?\d{1,3})?")
_LINES_OF_TABLE = 10
_SURE_ENOUGH = 0.2
_PERHAPS_ANOTHER = 0.5
"""A format that is less certain gives way to a program whose output is not read."""
_TELLS_APART = 0.05
_TOML_LINE = re.compile(rb"^\s*(\[\[?\s*[A-Za-z_][\w.\- ]*\]\]?|[A-Za-z_][\w.\-]*\s*=\s*\S.*)\s*(#.*)?$")
_TEXT_CONTROLS = frozenset(b"\t\n\v\f\r\x07\x08\x1b")


def read(
    path: Path | str,
    format: str | None = None,  # noqa: A002 the option's name
    only: str | None = None,
) -> Measurement:
    """Reads a file of any format; `format` names it if the contents are ambiguous, and `only` a path if the
    file is of several.

    # Raises
    FileError: the file is missing, unreadable, of no format, or of several; or of several paths.
    """
    return chosen(contents(path, format), only)


def contents(path: Path | str, format: str | None = None) -> Measurement | Subjects:  # noqa: A002 as above
    """Reads all paths that a file measures.

    # Raises
    FileError: as `read`.
    """
    path = Path(path)
    start = _start(path)
    return (_named(format) if format else _recognised(path, start)).read(path)


def is_scenario(path: Path | str) -> bool:
    """Returns whether it is TOML, like a scenario, and not a measurement; False if it is unreadable."""
    path = Path(path)
    try:
        if not path.is_file():
            return False
        start = head(path)
    except OSError:
        return False
    return is_toml(start)


def is_toml(start: bytes) -> bool:
    """Decides by the first line that is no comment: a table heading or a key with a value."""
    for line in start.splitlines():
        if line.strip() and not line.lstrip().startswith(b"#"):
            return _TOML_LINE.match(line[:500]) is not None
    return False


def formats() -> str:
    """Returns the names of the formats, for messages."""
    return ", ".join(reader.name for reader in readers())


def _start(path: Path) -> bytes:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise FileError(f"{path} is a directory; name a file in it")
        if not stat.S_ISREG(mode):
            raise FileError(
                f"{path} is not a regular file; a measurement is read more than once, so save it first: "
                "… > measurement.txt"
            )
        start = head(path)
        if b"\0" in start and is_packed(path):
            raise FileError(f"{path} is compressed; unpack it first: gunzip {path}")
    except FileNotFoundError:
        raise FileError(f"no such file: {path}") from None
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"cannot read {path}: {reason}") from error
    if not start.strip():
        raise FileError(f"{path} is empty" + ("" if not start else ": it has blank lines only"))
    return start


def _named(name: str) -> Reader:
    found = [reader for reader in readers() if reader.name == name]
    if not found:
        raise FileError(f"unknown format `{name}`; the formats are: {formats()}")
    return found[0]


def _recognised(path: Path, start: bytes) -> Reader:
    scores = sorted(((reader.recognises(start), reader.name) for reader in readers()), reverse=True)
    best, name = scores[0]
    if best < _PERHAPS_ANOTHER and (what := foreign(start)):
        raise FileError(f"{path}: {what}")
    if best < _SURE_ENOUGH:
        raise FileError(f"{path}: {_foreign(path, start)}")
    rivals = [other for score, other in scores[1:] if score > best - _TELLS_APART]
    if rivals:
        raise FileError(f"{path} could be {' or '.join([name, *rivals])}; choose one, e.g. --format {name}")
    return _named(name)


def _foreign(path: Path, start: bytes) -> str:
    if is_toml(start):
        return f"this is a TOML scenario, not a measurement; to run it: airtcp compare {path}"
    if any(byte < 32 and byte not in _TEXT_CONTROLS for byte in start[:4096]):
        return f"binary data in an unknown format; the formats are: {formats()}"
    if _is_bare_table(start):
        return (
            "rows of numbers without a heading; put the columns' names with their units above them, "
            "e.g. time_s,rtt_ms,lost or time_s,bandwidth_mbps"
        )
    return f"unknown format; the formats are: {formats()}; if it is one of them, use --format NAME"


def _is_bare_table(start: bytes) -> bool:
    """Whether the first lines have as many numbers each, two at least."""
    lines = [line for line in start.decode("utf-8", "replace").splitlines() if line.strip()][:_LINES_OF_TABLE]
    rows = [re.split(r"[,;\s]+", line.strip()) for line in lines]
    width = len(rows[0]) if rows else 0
    # The last one may be cut.
    whole = rows[:-1] or rows
    return width > 1 and all(len(row) == width and all(map(_NUMBER.fullmatch, row)) for row in whole)
