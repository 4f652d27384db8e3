"""The guest's file system: archives that the kernel unpacks into memory, one after the other.

So the guest has no disk. While it waited for one, its clock would run ahead, by as much as this host is slow.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO

REGULAR, FOLDER, LINK = 0o100755, 0o040755, 0o120777
ROOM = 512
"""Each archive is padded to a multiple of this; the kernel skips zeros between archives."""

Entry = tuple[str, int, bytes]
"""Path, mode and content; a link's content is where it points."""


def of_folder(folder: Path, is_wanted: Callable[[str], bool]) -> Iterator[Entry]:
    """Yields what is in a folder, sorted; what is not wanted is left out with all that is in it."""
    for path in sorted(folder.iterdir()):
        yield from _below(folder, path, is_wanted)


def _below(folder: Path, path: Path, is_wanted: Callable[[str], bool]) -> Iterator[Entry]:
    name, mode = str(path.relative_to(folder)), path.lstat().st_mode
    if not is_wanted(name):
        return
    if stat.S_ISLNK(mode):
        yield name, LINK, str(path.readlink()).encode()
    elif stat.S_ISDIR(mode):
        yield name, mode, b""
        for inside in sorted(path.iterdir()):
            yield from _below(folder, inside, is_wanted)
    elif stat.S_ISREG(mode):
        yield name, mode, path.read_bytes()


def with_folders(entries: dict[str, bytes]) -> Iterator[Entry]:
    """Yields files by their paths, and before each the folders in which it is."""
    seen = set()
    for path, content in sorted(entries.items()):
        for folder in reversed(list(Path(path).parents)[:-1]):
            if folder not in seen:
                seen.add(folder)
                yield str(folder), FOLDER, b""
        yield path, REGULAR, content


def write(entries: Iterable[Entry], file: IO[bytes]) -> None:
    """Writes an archive in cpio's format `newc`."""
    size = 0
    for entry in chain(entries, [("TRAILER!!!", 0, b"")]):
        size += file.write(_packed(entry))
    file.write(b"\0" * (-size % ROOM))


def _packed(entry: Entry) -> bytes:
    path, mode, data = entry
    name = path.encode() + b"\0"
    fields = [0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0]
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    return _padded(head) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
