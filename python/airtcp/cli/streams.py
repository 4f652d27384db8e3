"""Makes closed, full or abandoned standard streams end a command without a traceback."""

from __future__ import annotations

import os
import sys
from io import BufferedWriter, BytesIO, FileIO, TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from airtcp.cli.errors import InputError, reason

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def prepare_streams() -> None:
    """Prepares the standard streams; call it before anything is printed."""
    sys.stdout = _opened(sys.stdout, 1, "standard output")
    sys.stderr = _opened(sys.stderr, 2, None)


def outlet(number: int, encoding: str, *, name: str | None, by_line: bool) -> TextIOWrapper:
    """Wraps a descriptor that stays open. Unencodable characters become question marks.

    If the reader has left, further output is dropped and the command goes on with its files. Any other error
    on a stream with a `name` is raised once, as an InputError; without a name, nobody can be told.
    """
    return TextIOWrapper(
        BufferedWriter(_Outlet(number, name)), encoding, errors="replace", line_buffering=by_line
    )


class _Outlet(FileIO):
    def __init__(self, number: int, name: str | None) -> None:
        super().__init__(number, "w", closefd=False)
        self._told_as = name
        self._is_lost = False

    def write(self, data: ReadableBuffer) -> int:
        """Writes everything, or nothing after an error."""
        if not self._is_lost:
            try:
                return super().write(data)
            except OSError as error:
                self._is_lost = True
                if self._told_as and not isinstance(error, BrokenPipeError):
                    raise InputError(f"cannot write {self._told_as}: {reason(error)}") from error
        return memoryview(data).nbytes


def _opened(stream: TextIO | None, number: int, name: str | None) -> TextIO:
    if stream is None:
        # Closed by the caller: otherwise the next opened file would get this descriptor.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
        return outlet(number, "utf-8", name=name, by_line=False)
    # A stream in the memory of a caller of `main` has no reader who could leave.
    if not isinstance(stream, TextIOWrapper) or isinstance(stream.buffer, BytesIO):
        return stream
    if sys.platform == "win32":
        stream.reconfigure(errors="replace")
        return stream
    return outlet(number, stream.encoding, name=name, by_line=stream.line_buffering)
