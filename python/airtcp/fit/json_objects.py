"""Reads JSON objects from a file, one after the other, in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from airtcp.fit.text import HEAD_BYTES, TextFile

_CHECK_EACH = 1000


def objects(text: TextFile, longest: int) -> Iterator[tuple[int, dict[str, Any], str]]:
    """Yields each object of at most `longest` characters, its number from 1, and its first characters.

    Text between objects, such as the brackets of a list, is ignored. An object that is truncated or too long
    counts as skipped, and the objects inside it are yielded one by one.

    # Raises
    FileError if most of the file cannot be read.
    """
    decoder = json.JSONDecoder()
    number = 0
    with text.open() as stream:
        buffer = text.more(stream, HEAD_BYTES)
        place = buffer.find("{")
        while place >= 0:
            try:
                entry, end = decoder.raw_decode(buffer, place)
                number += 1
                text.skips.lines += 1
                yield number, entry, buffer[place : place + 80]
            except (ValueError, RecursionError):
                # It may continue in text that is not read yet.
                unread = len(buffer) - place
                if unread < longest and (more := text.more(stream, max(HEAD_BYTES, unread))):
                    buffer, place = buffer[place:] + more, 0
                    continue
                number += 1
                text.skips.lines += 1
                text.skips.add(number, buffer[place : place + 80])
                if text.skips.count % _CHECK_EACH == 0:
                    text.skips.check(text.path)
                end = place + 1
            place = buffer.find("{", end)
            while place < 0 and (buffer := text.more(stream, HEAD_BYTES)):
                place = buffer.find("{")
