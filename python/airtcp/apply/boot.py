"""What the next boot will find on a host's disk, whatever its kernel has loaded now."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host

SYSCTL_FOLDERS = ("/etc/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d")
"""In order of precedence (sysctl.d(5)); /run is empty at boot."""
UNIT_FOLDERS = (
    "/etc/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
)


@dataclass(frozen=True)
class Setting:
    """A line of a file in a folder for sysctls."""

    file: str
    key: str
    value: str


def settings(host: Host) -> list[Setting]:
    """Returns all settings of sysctls in the order in which a boot makes them: the last of a key holds."""
    files: dict[str, str] = {}
    for folder in SYSCTL_FOLDERS:
        for path in sorted(host.path(folder).glob("*.conf")):
            # A file replaces those of the same name in folders behind it.
            files.setdefault(path.name, f"{folder}/{path.name}")
    return [setting for name in sorted(files) for setting in _lines(host, files[name])]


def check_sysctls(host: Host, place: str, text: str) -> None:
    """Refuses a file of sysctls that another one overrides. Raises ApplyError."""
    wanted = dict(_parsed(text))
    for found in settings(host):
        if Path(found.file).name <= Path(place).name or found.key not in wanted:
            continue
        if found.value != wanted[found.key]:
            raise ApplyError(
                f"{found.file} sets {found.key} = {found.value} after {place}, and a boot would find that: "
                "remove the line, then apply again"
            )


def check_unit(host: Host, name: str) -> None:
    """Refuses a unit that is not installed, is masked, or starts a program that is not there. Raises
    ApplyError."""
    file = next((file for file in _unit_files(name) if _exists(host.path(file))), None)
    if file is None:
        raise ApplyError(f"{name} is not installed: install airtcpd, or copy it from packaging/systemd")
    path = host.path(file)
    if path.is_symlink() and str(path.readlink()) == os.devnull:
        raise ApplyError(f"{name} is masked: run `systemctl unmask {name}` first")
    for program in _programs(path.read_text(encoding="utf-8")):
        if not os.access(host.path(program), os.X_OK):
            raise ApplyError(
                f"{file} starts {program}, which is not there: install airtcpd there, or edit the unit"
            )


def device_unit(interface: str) -> str:
    """Returns the name of an interface's unit, escaped as systemd does (systemd.unit(5))."""
    letters = "".join(
        letter
        if (letter.isascii() and letter.isalnum()) or letter in ":_."
        else "".join(f"\\x{byte:02x}" for byte in letter.encode())
        for letter in interface
    )
    return f"sys-subsystem-net-devices-{letters}.device"


def _lines(host: Host, file: str) -> Iterator[Setting]:
    try:
        text = host.path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for key, value in _parsed(text):
        yield Setting(file, key, value)


def _parsed(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        if equals and not key.startswith(("#", ";")):
            yield _key(key.strip().removeprefix("-")), " ".join(value.split())


def _key(written: str) -> str:
    """Returns the key with dots. If its first separator is a slash, dots and slashes are exchanged."""
    first = next((letter for letter in written if letter in "./"), ".")
    return written if first == "." else written.translate(str.maketrans("./", "/."))


def _unit_files(name: str) -> Iterator[str]:
    stem, _, suffix = name.rpartition(".")
    template, at, instance = stem.partition("@")
    names = [name, f"{template}@.{suffix}"] if at and instance else [name]
    for each in names:
        yield from (f"{folder}/{each}" for folder in UNIT_FOLDERS)


def _programs(unit: str) -> Iterator[str]:
    for line in unit.splitlines():
        if line.startswith("ExecStart="):
            # Prefixes such as `-` are not part of the path (systemd.service(5)).
            yield line.removeprefix("ExecStart=").lstrip("@-:+!").split()[0]


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()
