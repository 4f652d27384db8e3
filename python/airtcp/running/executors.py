"""Executors for runs: threads, processes, a Dask cluster, or the caller's own."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from threading import Thread
from time import monotonic, sleep
from typing import Any

from airtcp._engine import Scenario, version
from airtcp.running.jobs import Pool

DASK = "dask://"
PROBE = "__import__('importlib').import_module('airtcp.running.executors').engine()"
CONNECT_S = 10
"""Time to reach a scheduler, and for it to have a worker."""
ABANDONED_S = 60.0
"""Time without a worker after which the work is given up."""


class ExecutorError(Exception):
    """No workers are available, or they would get wrong results: says how to correct that."""


@contextmanager
def opened(where: str | Executor | None, jobs: int | None) -> Iterator[Pool]:
    """Opens `threads`, `processes`, `dask://HOST:PORT`, or an executor. Raises ExecutorError."""
    cores = jobs or os.cpu_count() or 1
    if where is None or where == "threads":
        yield Pool(cores)
    elif where == "processes":
        with _processes(cores) as pool:
            yield pool
    elif isinstance(where, str) and where.startswith(DASK):
        with _dask(where, jobs) as pool:
            yield pool
    elif isinstance(where, str):
        raise ExecutorError(f"--executor {where}: expected threads, processes, or dask://HOST:PORT")
    else:
        yield Pool(jobs or max(cores, getattr(where, "_max_workers", 0)), where)


@contextmanager
def _processes(count: int) -> Iterator[Pool]:
    # Imported here because it is slow and rarely needed.
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415
    from multiprocessing import active_children, get_context  # noqa: PLC0415

    before = set(active_children())
    # Not by fork, because Polars and the engine have threads.
    context = get_context("spawn")
    executor = ProcessPoolExecutor(count, context, _begin_process, (os.getpid(),))
    finished = False
    try:
        # ProcessPoolExecutor fails on a future that was cancelled before its process died.
        yield Pool(count, executor, cancels=True)
        finished = True
    finally:
        if not finished:
            # A run in progress would not notice otherwise.
            for child in set(active_children()) - before:
                child.terminate()
        executor.shutdown(cancel_futures=True)


def _begin_process(parent: int) -> None:
    """Leaves Ctrl-C to the parent; if the parent is gone, nobody waits for the result."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


@contextmanager
def _dask(where: str, jobs: int | None) -> Iterator[Pool]:
    client = _client(where)
    try:
        _check_workers(client, where)
        # Not pure: two batches are never the same, even if they look alike.
        executor = client.get_executor(pure=False, retries=10)
        threads = sum(client.nthreads().values())
        yield Pool(jobs or max(threads, 2), executor, _watch(client, where))
    except _losses() as error:
        raise ExecutorError(
            f"--executor {where}: the cluster is lost ({type(error).__name__} {error}); restart it or do "
            "without it. A sweep resumes where it stopped"
        ) from error
    finally:
        client.close()


def _losses() -> tuple[type[BaseException], ...]:
    """Returns the errors of a future whose scheduler is gone, or whose workers die repeatedly."""
    from distributed import KilledWorker  # noqa: PLC0415
    from distributed.comm.core import CommClosedError  # noqa: PLC0415

    return (CancelledError, CommClosedError, KilledWorker)


def _client(where: str) -> Any:
    try:
        # Imported here because it is an optional dependency and takes a second.
        from distributed import Client  # noqa: PLC0415
    except ImportError:
        raise ExecutorError(f"--executor {where}: Dask is missing; pip install 'airtcp[dask]'") from None
    address = f"tcp://{where.removeprefix(DASK)}"
    try:
        return Client(address, timeout=CONNECT_S, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise ExecutorError(
            f"--executor {where}: no Dask scheduler is answering; start one with `dask scheduler`, and "
            f"workers with `dask worker {where.removeprefix(DASK)}`"
        ) from error


def _check_workers(client: Any, where: str) -> None:
    try:
        client.wait_for_workers(1, timeout=CONNECT_S)
    except TimeoutError as error:
        raise ExecutorError(
            f"--executor {where}: the scheduler has no worker; start some with "
            f"`dask worker {where.removeprefix(DASK)}`"
        ) from error
    # Sent as text, because a worker may lack the function.
    answers: dict[str, object] = client.run(eval, PROBE, on_error="return")
    for address, answer in answers.items():
        if isinstance(answer, ImportError):
            raise ExecutorError(
                f"--executor {where}: the worker {address} lacks {answer.name or 'airtcp'}; install the same "
                "version of airtcp there, and restart it"
            )
        if isinstance(answer, Exception):
            raise ExecutorError(f"--executor {where}: the worker {address} fails: {answer!r}")
        check_engine(str(answer), engine())


def _watch(client: Any, where: str) -> Callable[[], None]:
    """Asks the scheduler for its workers from time to time."""
    seen_s = asked_s = monotonic()

    def check() -> None:
        nonlocal seen_s, asked_s
        now_s = monotonic()
        if now_s < asked_s + 1:
            return
        asked_s = now_s
        # Empty once the client has given up its scheduler and cancelled its futures, which ends the work.
        if client.scheduler_info(n_workers=-1).get("workers"):
            seen_s = now_s
        elif now_s > seen_s + ABANDONED_S:
            raise ExecutorError(f"--executor {where}: there has been no worker for {ABANDONED_S:g} s")

    return check


def check_engine(theirs: str, expected: str) -> None:
    if theirs != expected:
        raise ExecutorError(
            f"a worker's engine ({theirs}) differs from this machine's ({expected}) and would give different "
            "numbers: install the same version of airtcp there, and restart it"
        )


@cache
def engine() -> str:
    """Returns the engine's version and its result of a short run: two engines that agree give the same
    numbers."""
    probe = Scenario.built_in([("duration", "1s")])
    runs = [probe.run(scheme, 1).to_json() for scheme in ("reno", "cubic", "bbr")]
    return f"{version()}-{sha256(''.join(runs).encode()).hexdigest()[:12]}"
