"""Reads JSON objects from a file, one after the other, in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from airtcp.fit.json_values import Repeated
from airtcp.fit.text import HEAD_BYTES, TextFile, shown

_CHECK_EACH = 1000
_NAMED = 3


def objects(text: TextFile, longest: int) -> Iterator[tuple[int, dict[str, Any], str]]:
    """Yields each object of at most `longest` characters, its number from 1, and its first characters.

    Text between objects, such as the brackets of a list, is ignored. An object that is truncated or too long
    counts as skipped, and the objects inside it are yielded one by one.

    # Raises
    FileError if most of the file cannot be read.
    """
    decoder = decoder_for(text)
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


def decoder_for(text: TextFile) -> json.JSONDecoder:
    """Returns a decoder for which a key has one value: several different ones become `Repeated`, with a note.

    RFC 8259 §4: which of them an implementation takes is unpredictable.
    """
    keys = _Keys(text.notes)
    return json.JSONDecoder(object_pairs_hook=keys.object_of)


class _Keys:
    def __init__(self, notes: list[str]) -> None:
        self.notes = notes
        self.note = ""
        self.repeated: list[str] = []

    def object_of(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            values: dict[str, list[Any]] = {}
            for key, value in pairs:
                values.setdefault(key, []).append(value)
            for key, several in values.items():
                if any(value != several[0] for value in several[1:]):
                    found[key] = Repeated(several)
                    self._say(key)
        return found

    def _say(self, key: str) -> None:
        if key in self.repeated or len(self.repeated) > _NAMED:
            return
        self.repeated.append(key)
        if self.note:
            self.notes.remove(self.note)
        names = ", ".join(f"`{shown(name)}`" for name in self.repeated[:_NAMED])
        self.note = (
            f"JSON keys that stand more than once in one object, with different values: {names}"
            f"{', …' if len(self.repeated) > _NAMED else ''}; such a value counts only where the file tells "
            "otherwise which is which."
        )
        self.notes.append(self.note)
