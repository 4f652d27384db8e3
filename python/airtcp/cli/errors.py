"""How a command ends when it does not end well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

FAILED = 1
"""Of a user's congestion control, at least one run."""
BAD_INPUT = 2
INTERRUPTED = 130


class InputError(Exception):
    """The user can mend it: shown without a traceback."""


@contextmanager
def writing(what: object) -> Iterator[None]:
    """A file that cannot be written is the user's to mend."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {what}: {reason(error)}") from error


def reason(error: OSError) -> str:
    """What the system said, without what Rust adds to it."""
    return error.strerror or str(error).partition(" (os error")[0]
