"""Fills the path with iperf3, either way, and samples the connections to the host with `ss` meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Literal

from airtcp.measure.sockets import Host

CONNECT_MS = 5000
BUSY_TRIES = 3
_SS_EACH_S = 1.0
_ANSWER_S = 5
_ALLOWED = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_FILLS = "bbr"
"""A control that takes each loss for congestion does not fill a lossy link."""

Way = Literal["there", "back"]
Meanwhile = Callable[[Callable[[], bool]], None]
"""Called during the load, with a function that says whether it still runs."""


class LoadError(Exception):
    """No load is possible: says why."""


def has_iperf3() -> bool:
    return shutil.which("iperf3") is not None


def iperf3(host: Host, port: int, way: Way, for_s: float, result: Path, meanwhile: Meanwhile) -> None:
    """Makes one run and writes its result to a file.

    # Raises
    LoadError: there is no server, or it is busy, or there is no `iperf3`.
    """
    controls = [_FILLS, None] if _FILLS in _controls() or way == "back" else [None]
    error = ""
    for control in controls:
        for _ in range(BUSY_TRIES):
            error = _run(_command(host, port, way, for_s, control), result, meanwhile)
            if not error:
                return
            if "busy" not in error:
                break
            time.sleep(1)
    result.unlink(missing_ok=True)
    raise LoadError(f"iperf3 {way}: {error}")


def _command(host: Host, port: int, way: Way, for_s: float, control: str | None) -> list[str]:
    found = ["iperf3", "--json", "--client", host.address, "--port", str(port), "--time", f"{for_s:.0f}"]
    found += ["--connect-timeout", str(CONNECT_MS)]
    found += ["--reverse"] if way == "back" else []
    return found + (["--congestion", control] if control else [])


def _run(command: list[str], result: Path, meanwhile: Meanwhile) -> str:
    """Returns its error message, or nothing."""
    with result.open("wb") as out:
        try:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        except OSError as error:
            return str(error)
        try:
            meanwhile(lambda: process.poll() is None)
        finally:
            if process.poll() is None:
                # SIGINT makes it write its results so far.
                process.send_signal(2)
                try:
                    process.wait(3)
                except subprocess.TimeoutExpired:
                    process.kill()
            process.wait()
    return _complaint(result)


def _complaint(result: Path) -> str:
    try:
        found = json.loads(result.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError, RecursionError):
        return "its result is not JSON"
    error = found.get("error") if isinstance(found, dict) else "its result is not JSON"
    has_any = isinstance(found, dict) and bool(found.get("intervals"))
    return "" if has_any or not error else str(error)[:200]


def _controls() -> list[str]:
    try:
        return (_AVAILABLE if os.geteuid() == 0 else _ALLOWED).read_text().split()
    except OSError:
        return []


class Ss:
    """Samples `ss -ti` of all connections to the host in the background, and appends to a file."""

    def __init__(self, host: Host, place: Path) -> None:
        self._command = [shutil.which("ss") or "", "-tinH", "dst", host.address]
        self._place = place
        self._end = Event()
        self._thread = Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Ss:
        if self._command[0]:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(_ANSWER_S)

    def _sample(self) -> None:
        while not self._end.wait(_SS_EACH_S):
            try:
                done = subprocess.run(
                    self._command, capture_output=True, timeout=_ANSWER_S, check=False, text=True
                )
                if done.stdout.strip():
                    with self._place.open("a", encoding="utf-8") as file:
                        file.write(f"{time.time():.3f}\n{done.stdout}")
            except (OSError, subprocess.SubprocessError):
                return
