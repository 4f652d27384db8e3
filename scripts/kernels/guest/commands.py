"""Commands of the guest: they say what they do, and fail with the line that says why."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE_S = 120
"""Of the guest's time, which is no more than what it computes and waits."""


class Failed(Exception):
    """A feature does not work: says why, in one line."""


def run(*command: str, inside: str | None = None, statuses: tuple[int, ...] = (0,)) -> str:
    """Runs a command to its end, in a network namespace if one is named. Returns what it wrote."""
    try:
        done = subprocess.run(
            [*_entered(inside), *command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=PATIENCE_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(command[:2])}: no end after {PATIENCE_S} s") from None
    said = done.stdout + done.stderr
    _log(command, said, done.returncode)
    # Some commands undo what a panic has left, and their status is that of the command that they ran.
    if "panicked" in said or done.returncode not in statuses:
        raise Failed(reason(said) or f"exit status {done.returncode}")
    return said


@contextmanager
def daemon(*command: str, inside: str, ending: signal.Signals = signal.SIGTERM) -> Iterator[None]:
    """Runs a daemon of airtcpd while the block lasts; then the signal must end it, without a complaint."""
    log = Path(f"/tmp/daemon-{time.monotonic_ns()}")
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            [*_entered(inside), *command], stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
    try:
        until(lambda: "serving" in log.read_text(encoding="utf-8") or process.poll() is not None)
        if process.poll() is None:
            yield
        status = process.poll()
    finally:
        process.send_signal(ending)
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
        said = log.read_text(encoding="utf-8", errors="replace")
        _log(command, said, process.returncode)
        log.unlink()
    if status is not None or "panicked" in said:
        raise Failed(reason(said) or f"ended with {status} by itself")
    if process.returncode not in (0, -ending, 128 + ending):
        raise Failed(f"ended with {process.returncode} when it was told to stop")


def until(holds: Callable[[], bool], every_s: float = 0.2) -> None:
    """Waits for a condition."""
    for _ in range(int(PATIENCE_S / every_s)):
        if holds():
            return
        time.sleep(every_s)
    raise Failed(f"not ready after {PATIENCE_S} s")


def carries(said: str, at_least_mbps: float) -> str:
    """Checks what iperf3's receiver got, in its JSON."""
    try:
        end = parsed(said)["end"]
        rate_mbps = (end.get("sum_received") or end["sum"])["bits_per_second"] / 1e6
    except (ValueError, KeyError):
        raise Failed(reason(said)) from None
    return fast_enough(rate_mbps, at_least_mbps)


def fast_enough(rate_mbps: float, at_least_mbps: float) -> str:
    """Checks a rate; returns it as text."""
    if rate_mbps < at_least_mbps:
        raise Failed(f"{rate_mbps:.2f} Mbit/s, at least {at_least_mbps:g} expected")
    return f"{rate_mbps:.2f} Mbit/s"


def parsed(said: str) -> Any:
    """Returns the first JSON among what a command has said."""
    return json.JSONDecoder().raw_decode(said[said.index("{") :])[0]


def reason(said: str) -> str:
    """Returns the line that says why: a panic's, a complaint of airtcpd, else the last one."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    for sign in (r"panicked", r"^airtcpd: ", r'^"?error'):
        found = [line for line in lines if re.search(sign, line, re.IGNORECASE)]
        if found:
            return found[0][:300]
    return lines[-1][:300] if lines else ""


def _entered(namespace: str | None) -> list[str]:
    # `ip netns exec` would hide the BPF file system.
    return ["nsenter", f"--net=/run/netns/{namespace}"] if namespace else []


def _log(command: tuple[str, ...], said: str, status: int) -> None:
    print(f"$ {' '.join(command)}\n{said.rstrip()}\n-> {status}")
