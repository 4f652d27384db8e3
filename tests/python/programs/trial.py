"""Starts servers, and tries programs with them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from .catalogue import Program, Server
from .hosts import SHARED
from .ways import CLIENT, SERVER, Way, eventually

PATIENCE_S = 120
FIRST_PORT = 10000
PORTS_EACH = 10
INSTALLED = "dpkg-query --show --showformat '${Package}\\n'"


class Trial:
    """A way, and the servers that have been started there."""

    def __init__(self, way: Way, servers: dict[str, Server], folder: Path) -> None:
        self.way = way
        self._servers = servers
        self._folder = folder
        self._installed = set(way.client.ask(f"{INSTALLED} || true").split())
        self._ports: dict[str, int] = {}

    def missing(self, program: Program) -> list[str]:
        """The packages that are not installed."""
        needed, name = {*program.packages}, program.server
        while name:
            needed.update(self._servers[name].packages)
            name = self._servers[name].behind
        return sorted(needed - self._installed)

    def run(self, program: Program) -> None:
        """Fails if it does not succeed, or if what carries connections here has not carried one."""
        environment = self._started(program.server)
        before = self._accepted()
        place = self._directory(program.label)
        with self._log_file(program.label).open("wb") as log:
            # What it leaves in the background may keep the log open.
            done = subprocess.run(
                self.way.client.within(program.run, place, environment, PATIENCE_S),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                check=False,
            )
        self.way.client.end_programs()
        said, server_said = self._log(program.label), self._log(program.server)
        assert done.returncode == 0, f"exit status {done.returncode}\n{said}\n{program.server}: {server_said}"
        if self.way.carrier:
            assert self._accepted() > before, "its connections went another way"
            self.way.carrier.awaits("connections", 0)

    def _accepted(self) -> int:
        return self.way.carrier.counters()["accepted_total"] if self.way.carrier else 0

    def _started(self, name: str) -> dict[str, str | Path]:
        """Starts a server, if it has not been, and returns what its clients are told."""
        server, directory = self._servers[name], self._directory(name)
        behind = self._started(server.behind)["PORT"] if server.behind else ""
        is_new = name not in self._ports
        port = self._ports.setdefault(name, FIRST_PORT + PORTS_EACH * len(self._ports))
        environment = {
            "WAY": self.way.name,
            "CLIENT": CLIENT,
            "SERVER": SERVER,
            "PORT": str(port),
            "BEHIND": behind,
            "THERE": directory,
            "FILES": SHARED / "files",
            "ENDS": SHARED / "files/ends.py",
        }
        if is_new:
            self._start(name, port, self.way.server.within(server.run, directory, environment))
        return environment

    def _start(self, name: str, port: int, command: Sequence[str]) -> None:
        with self._log_file(name).open("wb") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

        def listens() -> bool:
            assert process.poll() is None, f"{name} has ended: {self._log(name)}"
            return self.way.server.listens(port)

        eventually(listens, lambda: f"{name} does not listen: {self._log(name)}")

    def _directory(self, name: str) -> Path:
        """Returns where its programs find it."""
        (self._folder / name).mkdir(exist_ok=True)
        return SHARED / name

    def _log(self, name: str) -> str:
        return self._log_file(name).read_text(encoding="utf-8", errors="replace")

    def _log_file(self, name: str) -> Path:
        return self._folder / f"{name}.log"
