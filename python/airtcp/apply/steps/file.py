"""Files that persist across reboots."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
from airtcp.apply.steps.step import State, Step


@dataclass(frozen=True)
class File(Step):
    """One file with this text, replaced atomically by a rename."""

    KIND: ClassVar[str] = "file"
    place: str
    text: str

    @property
    def words(self) -> str:
        lines = "\n".join(f"    {line}" for line in self.text.splitlines())
        return f"write {self.place}:\n{lines}"

    def now(self, before: State) -> str:
        return (
            "does not exist yet"
            if before["content"] is None
            else "replaces an existing one, which undo restores"
        )

    def look(self, host: Host) -> State:
        path = host.path(self.place)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise ApplyError(f"{self.place} is not a regular file")
        missing = [str(each) for each in Path(self.place).parents if not host.path(str(each)).exists()]
        if not path.exists():
            return {"content": None, "missing": missing}
        told = path.stat()
        return {
            "content": b64encode(path.read_bytes()).decode(),
            "mode": told.st_mode & 0o7777,
            "owner": [told.st_uid, told.st_gid],
            "missing": missing,
        }

    def holds(self, host: Host) -> bool:
        try:
            return host.path(self.place).read_text(encoding="utf-8") == self.text
        except (OSError, UnicodeDecodeError):
            return False

    def do(self, host: Host) -> None:
        path = host.path(self.place)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, self._draft(host), self.text.encode())
        except OSError as error:
            raise ApplyError(f"cannot write {self.place}: {error.strerror}") from error

    def undo(self, host: Host, before: State) -> str | None:
        path = host.path(self.place)
        self._draft(host).unlink(missing_ok=True)
        content = None if before["content"] is None else b64decode(before["content"])
        found = path.read_bytes() if path.exists() else None
        if found not in (None, content, self.text.encode()):
            return f"{self.place} was changed after airtcp wrote it, and is kept"
        if content is None:
            path.unlink(missing_ok=True)
            # From the innermost outwards; a folder with files of others stays.
            for folder in before["missing"]:
                _remove(host.path(folder))
        elif found != content:
            _write(path, self._draft(host), content, before["mode"], before["owner"])
        return None

    def _draft(self, host: Host) -> Path:
        path = host.path(self.place)
        return path.with_name(f".{path.name}.airtcp")


def _write(
    path: Path, draft: Path, content: bytes, mode: int = 0o644, owner: list[int] | None = None
) -> None:
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fchmod(file.fileno(), mode)
        if owner:
            os.fchown(file.fileno(), *owner)
        os.fsync(file.fileno())
    draft.rename(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flushes new, renamed and removed entries of the folder to disk."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _remove(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return
