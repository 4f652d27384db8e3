"""A sweep that stops itself after so many batches, for a test that then interrupts it or kills what it uses.

As a program: stopped_sweep.py BATCHES ARGUMENTS... runs `airtcp ARGUMENTS...`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from airtcp.cli import main
from airtcp.sweep import run
from airtcp.sweep.journal import Journal
from airtcp.sweep.rows import Found


@contextmanager
def stopped(directory: Path, batches: int, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Starts a sweep in a session of its own. It has stopped; `proceed` lets it go on."""
    with subprocess.Popen(
        [sys.executable, __file__, str(batches), *arguments],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), process.communicate()
        try:
            yield process
        finally:
            process.kill()


def proceed(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Returns what it prints until it ends."""
    process.send_signal(signal.SIGCONT)
    return process.communicate(timeout=60)


def _stop_after(batches: int) -> None:
    class Stopping(Journal):
        added = 0

        def add(self, found: Iterable[tuple[int, Found]]) -> None:
            super().add(found)
            self.added += 1
            if self.added == batches:
                os.kill(os.getpid(), signal.SIGSTOP)

    run.Journal = Stopping  # type: ignore[attr-defined]
    # One run a batch. With more, a fast machine would be done before it stops.
    run.BATCH_S = 0


if __name__ == "__main__":
    _stop_after(int(sys.argv[1]))
    sys.argv = ["airtcp", *sys.argv[2:]]
    main()
