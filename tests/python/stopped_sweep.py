"""A sweep that stops itself after so many batches, for a test that then interrupts it or kills what it uses.

usage: stopped_sweep.py BATCHES ARGUMENTS... runs `airtcp ARGUMENTS...`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable

from airtcp.cli import main
from airtcp.sweep import run
from airtcp.sweep.journal import Journal
from airtcp.sweep.rows import Found


def stop_after(batches: int) -> None:
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


stop_after(int(sys.argv[1]))
sys.argv = ["airtcp", *sys.argv[2:]]
main()
