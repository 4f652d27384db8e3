"""Runs in the middle of a user's Python can be stopped, and stop nothing else."""

from __future__ import annotations

import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from conftest import COMMAND, start

import airtcp

from .test_interface import SHORT, Aimd

ENDLESS = """
import airtcp

def loop():
    while True:
        pass

def catching_errors():
    while True:
        try:
            loop()
        except Exception:
            pass

def catching_all_twice():
    for _ in range(2):
        try:
            loop()
        except BaseException:
            pass
    loop()

class Endless(airtcp.CongestionControl):
    def on_slow_start(self, ack):
        print("begun", flush=True)
        BODY()

    on_ack = on_slow_start

    def on_loss(self, loss):
        pass
"""


@pytest.mark.parametrize("command", ["compare", "run"])
@pytest.mark.parametrize("body", ["loop", "catching_errors", "catching_all_twice"])
def test_ctrl_c_ends_an_endless_hook(tmp_path: Path, command: str, body: str) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS.replace("BODY", body))
    option = "--schemes" if command == "compare" else "--scheme"
    arguments = ["--controller", "endless.py", option, "endless"]
    with start(tmp_path, *COMMAND, command, *arguments) as process:
        assert process.stdout is not None
        while "begun" not in process.stdout.readline():
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        out, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    # It is wrapped to the width of the terminal.
    assert "endless: on_slow_start was running at 0." in " ".join((said + out).split())


def test_a_cancelled_run_leaves_its_thread_as_it_was() -> None:
    """The interrupt hits the hook and nothing that the thread does later."""
    begun = Event()

    class Endless(Aimd):
        def on_ack(self, ack: airtcp.Ack) -> None:
            begun.set()
            while True:
                pass

    cancel = airtcp.CancelToken()
    with ThreadPoolExecutor(1) as pool:
        stopped = pool.submit(SHORT.run, Endless, 1, cancel=cancel)
        assert begun.wait(20)
        cancel.cancel()
        with pytest.raises(airtcp.Cancelled, match=r"endless: on_ack was running at [0-9.]+ s"):
            stopped.result(20)
        assert pool.submit(sum, range(1_000_000)).result(20) > 0
        assert pool.submit(lambda: SHORT.run(Aimd, 1).to_json()).result(20) == SHORT.run(Aimd, 1).to_json()


TRACED = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import airtcp
from endless import Endless, loop

begun = Event()

class Waiting(Endless):
    def on_slow_start(self, ack):
        begun.set()
        loop()

cancel = airtcp.CancelToken()
with ThreadPoolExecutor(1) as pool:
    stopped = pool.submit(airtcp.Scenario.built_in().run, Waiting, 1, cancel=cancel)
    begun.wait()
    cancel.cancel()
    print(type(stopped.exception()).__name__)
sys.settrace(lambda *_: None)
print((lambda: "traced")())
"""


def test_a_program_may_trace_after_a_run_was_cancelled(tmp_path: Path) -> None:
    """CPython 3.11 hangs there if it still has an interrupt to look for."""
    (tmp_path / "endless.py").write_text(ENDLESS.replace("BODY", "loop"))
    (tmp_path / "traced.py").write_text(TRACED)
    with start(tmp_path, sys.executable, "traced.py") as process:
        try:
            said, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert said.split() == ["Cancelled", "traced"], errors


def test_a_token_that_is_cancelled_between_hooks_stops_the_run() -> None:
    cancel = airtcp.CancelToken()
    long = SHORT.vary(duration="10h")
    with ThreadPoolExecutor(1) as pool:
        stopped = pool.submit(long.run, Aimd, 1, cancel=cancel)
        time.sleep(0.2)
        cancel.cancel()
        with pytest.raises(airtcp.Cancelled):
            stopped.result(20)


def test_what_a_hook_raises_to_end_the_program_is_a_failure_too() -> None:
    class Exiting(Aimd):
        def on_ack(self, ack: airtcp.Ack) -> None:
            raise SystemExit(3)

    with pytest.raises(airtcp.ControllerError, match="SystemExit"):
        SHORT.run(Exiting, 1)


def test_keyboard_interrupt_in_a_hook_is_that() -> None:
    class Interrupted(Aimd):
        def on_ack(self, ack: airtcp.Ack) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SHORT.run(Interrupted, 1)


def test_runs_in_parallel_do_not_wait_for_each_other_for_ever() -> None:
    found = airtcp.compare(SHORT, schemes=["reno", Aimd, "cubic"], seeds=20, jobs=8)
    assert len(found.runs) == 60
