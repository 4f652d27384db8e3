"""Daemons of `airtcpd`, which run until they are stopped."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import ClassVar

from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
from airtcp.apply.steps.step import State, Step

RUNTIME = "/run/airtcp"
SETTLE_S = 2.0
"""A daemon that lives this long has finished its setup."""
END_S = 45.0
"""A stopping daemon lets open connections go on for 30 s."""
START = 'echo $$ > "$1"; shift; exec "$@" 9>&-'
"""Writes the PID to disk before the program runs; the lock, on descriptor 9, is held until then."""


@dataclass(frozen=True)
class Service(Step):
    """Runs `airtcpd proxy run …`, `airtcpd circuit …` or `airtcpd decouple …` in the background."""

    KIND: ClassVar[str] = "service"
    name: str
    """`proxy`, `circuit` or `decouple`."""
    arguments: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"airtcpd {' '.join(self.arguments)}  (in the background; it writes to {self._log})"

    def look(self, host: Host) -> State:
        if self._pid(host):
            raise ApplyError(f"airtcp has started an `airtcpd {self.name}` already: `airtcp undo` stops it")
        return {"boot": host.boot}

    def holds(self, host: Host) -> bool:
        pid = self._pid(host)
        return pid is not None and _command(pid)[1:] == [*self.arguments]

    def do(self, host: Host) -> None:
        program = host.find("airtcpd")
        if program is None:
            raise ApplyError("airtcpd is not installed on this host: install it first")
        host.path(RUNTIME).mkdir(mode=0o700, parents=True, exist_ok=True)
        pid_file = self._pid_file(host)
        descriptor = os.dup(host.lock) if host.lock is not None else os.open(os.devnull, os.O_RDONLY)
        with host.path(self._log).open("wb") as log:
            started = subprocess.Popen(
                ["/bin/sh", "-c", START, "sh", str(pid_file), program, *self.arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd="/",
                preexec_fn=lambda: os.dup2(descriptor, 9),  # noqa: PLW1509 nothing else runs beside it
                close_fds=False,
            )
        os.close(descriptor)
        with suppress(subprocess.TimeoutExpired):
            started.wait(SETTLE_S)
        if started.poll() is not None:
            pid_file.unlink(missing_ok=True)
            said = host.path(self._log).read_text(errors="replace").strip()
            raise ApplyError(
                f"airtcpd {' '.join(self.arguments)} ended at once: {said or started.returncode}"
            )

    def check(self, host: Host) -> str:
        super().check(host)
        return f"`airtcpd {self.name}` runs: `airtcpd {self.name} status` shows what it does"

    def undo(self, host: Host, before: State) -> str | None:
        pid = self._pid(host) if before["boot"] == host.boot else None
        if pid is not None:
            self._end(pid)
        self._pid_file(host).unlink(missing_ok=True)
        host.path(self._log).unlink(missing_ok=True)
        host.run("airtcpd", self.name, "clean")
        return None

    def _end(self, pid: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        deadline_s = monotonic() + END_S
        while _is_airtcpd(pid):
            if monotonic() > deadline_s:
                raise ApplyError(
                    f"airtcpd {self.name} (process {pid}) does not stop: `kill -9 {pid}`, then undo again"
                )
            sleep(0.05)

    def _pid(self, host: Host) -> int | None:
        try:
            pid = int(self._pid_file(host).read_text())
        except (OSError, ValueError):
            return None
        return pid if _is_airtcpd(pid) else None

    def _pid_file(self, host: Host) -> Path:
        return host.path(f"{RUNTIME}/applied-{self.name}.pid")

    @property
    def _log(self) -> str:
        return f"{RUNTIME}/applied-{self.name}.log"


def _is_airtcpd(pid: int) -> bool:
    """Returns whether the process is still airtcpd: its PID may have been reused."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    return any("airtcpd" in word for word in _command(pid))


def _command(pid: int) -> list[str]:
    """Returns the command line; empty if there is no such process."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")
    except OSError:
        return []
