"""The host to change: its files, its sysctls, and the programs that change it."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from airtcp.apply.errors import ApplyError

PATIENCE_S = 60.0
"""Far longer than any of the programs needs."""
PLACES = ("/usr/sbin", "/sbin", "/usr/bin", "/bin")
"""Directories of system tools that a user's PATH may lack."""


@dataclass(frozen=True)
class Host:
    """`root` is the base of its files, so that a test can use a folder of its own."""

    root: Path = Path("/")
    airtcpd: Path | None = None
    lock: int | None = None
    """A locked file that each program inherits: a wait for the lock is a wait for the program too."""

    def holding(self, lock: int) -> Host:
        """Returns this host for the holder of this lock."""
        return replace(self, lock=lock)

    def path(self, absolute: str) -> Path:
        """Returns the path of a file of the host."""
        return self.root / absolute.lstrip("/")

    def sysctl(self, key: str) -> str | None:
        """Returns the value, with single spaces; None if the kernel has no such key."""
        try:
            return " ".join(self._sysctl_file(key).read_text().split())
        except OSError:
            return None

    def set_sysctl(self, key: str, value: str) -> None:
        """Raises ApplyError."""
        try:
            self._sysctl_file(key).write_text(f"{value}\n")
        except OSError as error:
            raise ApplyError(f"sysctl -w {key}={value}: {error.strerror}") from error

    def find(self, program: str) -> str | None:
        """Returns the path of a program."""
        if program == "airtcpd":
            return str(self.airtcpd) if self.airtcpd else None
        places = os.pathsep.join([os.environ.get("PATH", os.defpath), *PLACES])
        return shutil.which(program, path=places)

    def run(self, program: str, *arguments: str) -> str:
        """Returns the program's output. Raises ApplyError with its error message."""
        path = self.find(program)
        if path is None:
            raise ApplyError(f"{program} is not installed on this host: install it first")
        try:
            done = subprocess.run(
                [path, *arguments],
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=PATIENCE_S,
                check=False,
                pass_fds=() if self.lock is None else (self.lock,),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ApplyError(f"{program} {' '.join(arguments)}: {error}") from error
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).removeprefix(f"{program}: ").rstrip(".")
            raise ApplyError(f"{program} {' '.join(arguments)}: {said or f'failed with {done.returncode}'}")
        return done.stdout

    @property
    def network(self) -> str:
        """The kernel's identifier of the network namespace."""
        return str(Path("/proc/self/ns/net").readlink())

    @property
    def boot(self) -> str:
        """An identifier that changes with each boot."""
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()

    def _sysctl_file(self, key: str) -> Path:
        return self.path("/proc/sys") / key.replace(".", "/")
