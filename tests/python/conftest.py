"""What several tests share: the command as a user starts it, and runs made by hand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import hypothesis
import pytest
from command_server import TIMEOUT_S, Request

from airtcp.facts.records import Flow, Run
from airtcp.linux.airtcpd import Airtcpd, find
from airtcp.linux.error import LinuxError

# No test asserts elapsed time.
hypothesis.settings.register_profile(
    "airtcp", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("airtcp")

SERVER = Path(__file__).with_name("command_server.py")
STOPPED_SWEEP = Path(__file__).with_name("stopped_sweep.py")
Done = subprocess.CompletedProcess[str]
COMMAND = [sys.executable, "-m", "airtcp"]
SHORT = ["--duration", "3s", "--seeds", "2", "--schemes", "reno,cubic"]
"""Options that make a comparison take a moment."""


def start(directory: Path, *command: str) -> subprocess.Popen[str]:
    """Starts a program in a session of its own, all of which a test may interrupt."""
    return subprocess.Popen(
        command,
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@contextmanager
def stopped(directory: Path, batches: int, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Starts a sweep and waits until it has stopped itself; `proceed` lets it go on."""
    with start(directory, sys.executable, str(STOPPED_SWEEP), str(batches), *arguments) as process:
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


class Commands:
    """Runs commands one after the other, each in a process of its own; see `command_server`."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None

    def run(self, directory: Path, arguments: Sequence[str], environment: dict[str, str]) -> Done:
        told = [directory / f".{name}" for name in ("out", "err")]
        for path in told:
            path.touch()
        request = Request(
            arguments=[*arguments],
            directory=str(directory),
            environment=environment,
            out=str(told[0]),
            err=str(told[1]),
        )
        code = self._answer(json.dumps(request))
        out, err = (path.read_text() for path in told)
        for path in told:
            path.unlink()
        return Done([*COMMAND, *arguments], code, out, err)

    def _answer(self, request: str) -> int:
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert self._server.stdin
        assert self._server.stdout
        print(request, file=self._server.stdin, flush=True)
        return int(self._server.stdout.readline())

    def end(self) -> None:
        if self._server is not None:
            self._server.communicate()


class Cli:
    """Runs `airtcp` in a directory of its own."""

    def __init__(self, directory: Path, commands: Commands) -> None:
        self.directory = directory
        self._commands = commands

    def __call__(self, *arguments: str, **environment: str) -> Done:
        return self._commands.run(self.directory, arguments, {**os.environ, **environment})

    def started(self, *arguments: str) -> str:
        """What it says where Python is started for it, as by a user: another hash seed, for one."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=self.directory,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ok(self, *arguments: str, **environment: str) -> str:
        done = self(*arguments, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refused(self, *arguments: str) -> str:
        """What it says on standard error; a wrong input is 2, in a few lines, without a traceback."""
        done = self(*arguments)
        assert done.returncode == 2, (done.returncode, done.stderr)
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        assert 1 <= len(done.stderr.splitlines()) <= 6
        return done.stderr


@pytest.fixture(scope="session")
def airtcpd() -> Airtcpd:
    """The program, for tests on this host's kernel; skipped where it is missing or may not run."""
    try:
        found = find()
        found.check_privileges()
    except LinuxError as error:
        pytest.skip(f"skipped: {error}")
    return found


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    serving = Commands()
    yield serving
    serving.end()


@pytest.fixture
def cli(tmp_path: Path, commands: Commands) -> Cli:
    return Cli(tmp_path, commands)


def flow(goodput_bps: float, completion_times_s: Sequence[float] = ()) -> Flow:
    return {
        "name": "flow",
        "index": 0,
        "scheme": "reno",
        "measured": True,
        "goodput_bps": goodput_bps,
        "throughput_bps": goodput_bps * 1.1,
        "bytes_received": 1_000_000,
        "data_packets_sent": 1000,
        "data_packets_delivered": 980,
        "data_packets_under_way": 1,
        "retransmissions": 20,
        "retransmissions_spurious": 1,
        "timeouts": 3,
        "timeouts_spurious": 1,
        "fast_retransmits": 9,
        "fast_retransmits_spurious": 0,
        "cwnd_reductions": 11,
        "losses_corruption": 15,
        "losses_congestion": 4,
        "losses_outage": 0,
        "acks_lost": 7,
        "rtt_samples": 500,
        "rtt_min_ms": 40.0,
        "rtt_mean_ms": 60.0,
        "rtt_p50_ms": 50.0,
        "rtt_p95_ms": 90.0,
        "rtt_p99_ms": 200.0,
        "transfers_started": 1,
        "resets": 0,
        "completion_times_s": list(completion_times_s),
    }


def run(scheme: str, seed: int, *flows: Flow) -> Run:
    return {
        "scheme": scheme,
        "seed": seed,
        "duration_s": 10.0,
        "warmup_s": 0.0,
        "goodput_bps": sum(flow["goodput_bps"] for flow in flows if flow["measured"]),
        "jain_index": 0.9,
        "bound_bps": 10e6,
        "flows": list(flows),
        "links": [],
        "circuits": [],
        "events": 1,
        "packets_delivered": 1,
    }


def runs_of(**goodputs_mbps: Sequence[float]) -> list[Run]:
    """One run a scheme and goodput, with seeds from 1 on."""
    return [
        run(scheme, seed, flow(goodput * 1e6))
        for scheme, goodputs in goodputs_mbps.items()
        for seed, goodput in enumerate(goodputs, 1)
    ]


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """A shell starts what it puts into the background with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """How wide the terminal is in which the tests run is no matter of theirs."""
    monkeypatch.delenv("COLUMNS", raising=False)
