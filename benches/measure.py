"""CPU time, instructions and memory of programs, as children of this process."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPEATS = 3
LIMIT_S = 30
"""A run that takes more CPU time is given up: what grows with the window may never end."""
LIMITED: Any = {
    # There are no threads here, with which it would be unsafe.
    "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S + 1))
}
# valgrind counts each byte of `rep stosb` as an instruction, and ns-2 clears a kilobyte a packet with it.
NO_REP = "glibc.cpu.x86_rep_stosb_threshold=1000000000:glibc.cpu.x86_rep_movsb_threshold=1000000000"


@dataclass(frozen=True)
class Finished:
    cpu_s: float
    """User and system."""
    wall_s: float
    counters: dict[str, int]
    """The `name=value` pairs that it prints, added up."""


def run_once(command: list[str], directory: Path | None = None) -> Finished | None:
    """None if it was given up."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=directory, **LIMITED)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == -signal.SIGXCPU:
        return None
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    counters: dict[str, int] = {}
    for name, value in re.findall(r"(\w+)=(\d+)", output):
        counters[name] = counters.get(name, 0) + int(value)
    return Finished(usage.ru_utime + usage.ru_stime, wall_s, counters)


def run(command: list[str], directory: Path | None = None) -> Finished | None:
    """The run that took the least CPU time of a few: what else the machine does only ever adds."""
    done = []
    for _ in range(REPEATS):
        finished = run_once(command, directory)
        if finished is None:
            return None
        done.append(finished)
    return min(done, key=lambda each: each.cpu_s)


def instructions(command: list[str]) -> int | None:
    """Instructions that a command executes in user space, counted by valgrind; None if it was given up."""
    tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    environment = os.environ | {"GLIBC_TUNABLES": NO_REP}
    done = subprocess.run(
        [*tool, *command], capture_output=True, text=True, env=environment, check=False, **LIMITED
    )
    if done.returncode == -signal.SIGXCPU:
        return None
    match = re.search(r"I +refs: +([\d,]+)", done.stderr)
    if not match:
        sys.exit(f"no instruction count in valgrind's output:\n{done.stderr}")
    return int(match[1].replace(",", ""))
