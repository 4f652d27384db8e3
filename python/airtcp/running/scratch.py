"""Temporary folders that are removed even if their makers are killed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp

if sys.platform != "win32":
    import fcntl

PREFIX = "airtcp-scratch-"
"""The maker of such a folder holds a lock on it, which the kernel releases when the maker ends."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Makes a folder, and first removes those of this user whose makers are dead. Raises OSError."""
    _clean()
    folder, lock = _made()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _close(lock)


def _clean() -> None:
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        # It may belong to another user, be in use, or be gone by now.
        with suppress(OSError):
            lock = _locked(folder, wait=False)
            if lock is not None and os.fstat(lock).st_uid == os.geteuid():
                shutil.rmtree(folder, ignore_errors=True)
            _close(lock)


def _made() -> tuple[Path, int | None]:
    while True:
        folder = Path(mkdtemp(prefix=PREFIX))
        # Before it is locked, another process may remove it as abandoned.
        with suppress(FileNotFoundError):
            lock = _locked(folder, wait=True)
            if folder.exists():
                return folder, lock
            _close(lock)


def _locked(folder: Path, *, wait: bool) -> int | None:
    """Returns the lock; None on Windows, where nothing is cleaned up. Raises OSError."""
    if sys.platform == "win32":
        return None
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _close(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)
