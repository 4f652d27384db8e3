"""Makes one transfer with one congestion control: its goodput, or its duration."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any, Literal, Protocol

from airtcp.apply import ApplyError, Host

SPARE_S = 30.0
"""Time that a transfer may take to begin and to end, beyond its duration."""

ATTEMPTS = 3
PAUSE_S = 1.0


class Transfer(Protocol):
    """What is repeated. `sets_default`: whether it uses this host's default control rather than a named
    one."""

    @property
    def objective(self) -> Literal["goodput", "time"]: ...

    @property
    def sets_default(self) -> bool: ...

    def measure(self, control: str, host: Host) -> float:
        """Returns bit/s or seconds. Raises ApplyError."""


@dataclass(frozen=True)
class Iperf3:
    """A timed transfer to an iperf3 server, or from it."""

    server: str
    port: int
    seconds: float
    reverse: bool = False
    objective: Literal["goodput", "time"] = "goodput"
    sets_default: bool = False

    def measure(self, control: str | None, host: Host) -> float:
        """Returns the goodput at the receiver; without a name, of the host's default control.

        A server that is still busy with the last transfer is asked again. Raises ApplyError.
        """
        for _ in range(ATTEMPTS - 1):
            try:
                return self._once(control, host)
            except ApplyError:
                sleep(PAUSE_S)
        return self._once(control, host)

    def _once(self, control: str | None, host: Host) -> float:
        program = host.find("iperf3")
        if program is None:
            raise ApplyError("iperf3 is not installed on this host: install it, or give --download")
        arguments = ["-c", self.server, "-p", str(self.port), "-t", f"{self.seconds:g}", "--json"]
        arguments += ["-C", control] if control else []
        arguments += ["-R"] if self.reverse else []
        told = _document(_run([program, *arguments], self.seconds + SPARE_S))
        try:
            used = told["end"].get("sender_tcp_congestion", control)
            goodput_bps = float(told["end"]["sum_received"]["bits_per_second"])
        except KeyError as error:
            raise ApplyError(f"iperf3 with {control}: {told.get('error', 'it did not finish')}") from error
        if control and used != control:
            raise ApplyError(f"iperf3 was told to use {control} but used {used}")
        return goodput_bps


@dataclass(frozen=True)
class Command:
    """A command that fetches something that this host sends."""

    line: str
    most_s: float = 600.0
    objective: Literal["goodput", "time"] = "time"
    sets_default: bool = True

    def measure(self, control: str, host: Host) -> float:  # noqa: ARG002 the host's default is the control
        """Returns its duration."""
        begin_s = monotonic()
        done = _run(["/bin/sh", "-c", self.line], self.most_s)
        if done.returncode:
            raise ApplyError(f"{self.line}: {done.stderr.strip() or f'ended with {done.returncode}'}")
        return monotonic() - begin_s


def _run(command: list[str], most_s: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=most_s, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ApplyError(f"{' '.join(command)}: not done after {most_s:g} s") from error


def _document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        raise ApplyError(f"iperf3: {done.stderr.strip() or done.stdout.strip()}") from error
    assert isinstance(found, dict)
    return found
