"""How a command ends on errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airtcp.fit.document import FitDocument

FAILED = 1
"""Exit code if a run of a user's congestion control failed, or if nothing arrived in any run or measurement.
"""
BAD_INPUT = 2
INTERRUPTED = 130


class InputError(Exception):
    """An error that the user can correct; shown without a traceback."""


class PathError(Exception):
    """The input is sound, and shows that the path fails; shown without a traceback."""

    def __init__(self, text: str, found: FitDocument, *, is_hole: bool) -> None:
        super().__init__(text)
        self.found = found
        """What the measurements show, as `airtcp fit --json` writes it."""
        self.is_hole = is_hole
        """Whether a path-MTU black hole is the reason, against which hosts can do something."""


@contextmanager
def writing(what: object) -> Iterator[None]:
    """Turns errors on writing a file into an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {what}: {reason(error)}") from error


def check_outputs(folder: Path | None, *files: str | Path | None) -> None:
    """Makes the folder and refuses unwritable files, before the work rather than after it.

    `-` is standard output.
    """
    if folder is not None:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"cannot write {folder}: it is a file, not a directory")
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(f"cannot write {folder}: Permission denied")
    for file in files:
        if file is not None and str(file) != "-":
            _check_file(Path(file))


def _check_file(file: Path) -> None:
    if file.is_dir():
        raise InputError(f"cannot write {file}: it is a directory, not a file")
    if not file.parent.is_dir():
        raise InputError(f"cannot write {file}: no such directory: {file.parent}")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise InputError(f"cannot write {file}: Permission denied")


def reason(error: OSError) -> str:
    """Returns the system's message, without Rust's additions."""
    return error.strerror or str(error).partition(" (os error")[0]


def hinted(error: str) -> str:
    """Adds a hint on one's own controllers to an error about an unknown scheme."""
    hint = "to use your own congestion control, add --controller FILE.py"
    return f"{error}\n({hint})" if "unknown name" in error else error
