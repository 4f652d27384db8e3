"""Finds `airtcpd`, the program that runs scenarios on this host's kernel, and checks that it is usable."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from airtcp._engine import CancelToken, version
from airtcp.linux.error import LinuxError
from airtcp.linux.place import Ended

NAME = "airtcpd"
VARIABLE = "AIRTCPD"
DOCTOR = "`airtcpd doctor` says what this host can do, and what is missing"
ANSWER_S = 30
"""Far longer than it needs to report its version or its plan."""
UNDO_S = 10.0
"""Time to undo a run's setup once it is told to end."""


@dataclass(frozen=True)
class Airtcpd:
    """A program of the same version as this package; as a place, it makes runs on this host's kernel."""

    path: Path
    version: str
    at_a_time = 1
    in_real_time = True

    @property
    def kernel(self) -> str:
        return os.uname().release

    def answer(self, *arguments: str | Path) -> str:
        """Returns its output. Raises LinuxError with its error message."""
        return _answer(self.path, *arguments)

    def check_privileges(self) -> None:
        """Raises LinuxError if it may not create namespaces or load congestion controls."""
        if os.geteuid() != 0 and not _has_capabilities(self.path):
            raise LinuxError(
                "kernel runs need root, for namespaces and "
                f"congestion controls: run it again with sudo. {DOCTOR}"
            )

    def plan(self, recipe: Path) -> str:
        """Needs no privileges."""
        return self.answer("run", "--plan", "--recipe", recipe)

    def make(
        self, options: Sequence[str], recipe: Path, out: Path, limit_s: float, cancel: CancelToken
    ) -> Ended:
        """It takes real time."""
        # Ctrl-C is for this process to handle; it ends the run in an orderly way.
        process = subprocess.Popen(
            [self.path, "run", "--recipe", recipe, "--out", out, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,
        )
        deadline_s = monotonic() + limit_s
        while True:
            try:
                said = complaint(process.communicate(timeout=0.1)[1])
                return Ended(process.returncode, said)
            except subprocess.TimeoutExpired:
                if cancel.cancelled or monotonic() > deadline_s:
                    return Ended(None, _end(process))


def find() -> Airtcpd:
    """Returns the matching airtcpd. Raises LinuxError if there is none."""
    if sys.platform != "linux":
        raise LinuxError(f"`--on linux` needs Linux; this is {sys.platform}")
    path = next(_places(), None)
    if path is None:
        raise LinuxError(
            f"no {NAME} beside {sys.executable}, in PATH, or in a checkout's target folder: `make field` "
            f"builds it; set {VARIABLE} if it is elsewhere"
        )
    said = _answer(path, "--version").split()
    if said[:1] != [NAME]:
        raise LinuxError(f"{path} is not {NAME}: its --version does not identify it")
    found = said[-1]
    if found != version():
        raise LinuxError(
            f"{path} is version {found}, this airtcp is {version()}: `make field` builds the matching one"
        )
    return Airtcpd(path, found)


def _places() -> Iterator[Path]:
    """Yields possible locations, in order of precedence."""
    if named := os.environ.get(VARIABLE):
        if not _is_program(Path(named)):
            raise LinuxError(f"{VARIABLE}={named} is not executable: give the path of {NAME}")
        yield Path(named)
    beside = Path(sys.executable).with_name(NAME)
    if _is_program(beside):
        yield beside
    if in_path := shutil.which(NAME):
        yield Path(in_path)
    # Of several builds, the latest is used.
    built = [path for path in _checkout().glob(f"target/*/{NAME}") if _is_program(path)]
    yield from sorted(built, key=lambda path: path.stat().st_mtime, reverse=True)


def _checkout() -> Path:
    return Path(__file__).resolve().parents[3]


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _has_capabilities(path: Path) -> bool:
    try:
        return bool(os.getxattr(path, "security.capability"))
    except OSError:
        return False


def _answer(path: Path, *arguments: str | Path) -> str:
    try:
        done = subprocess.run(
            [path, *arguments], capture_output=True, text=True, timeout=ANSWER_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LinuxError(f"{path} does not run: {error}; `make field` rebuilds it") from error
    if done.returncode:
        raise LinuxError(f"{complaint(done.stderr) or f'{path} failed'}. {DOCTOR}")
    return done.stdout


def _end(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGINT)
    try:
        return complaint(process.communicate(timeout=UNDO_S)[1])
    except subprocess.TimeoutExpired:
        # The next start of airtcpd cleans up what it leaves behind.
        process.kill()
        return complaint(process.communicate()[1])


def complaint(stderr: str) -> str:
    """Returns its error message without its name."""
    return stderr.strip().removeprefix(f"{NAME}: ")
