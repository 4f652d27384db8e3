"""Runs work on all cores until Ctrl-C. The engine releases the GIL while it runs, so threads suffice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from queue import Empty, SimpleQueue
from signal import SIGINT, default_int_handler, getsignal, signal
from threading import current_thread, main_thread
from typing import TypeVar

from airtcp._engine import Cancelled, CancelToken

J = TypeVar("J")
T = TypeVar("T")

CANCELLED = "cancelled"
"""What the engine says of a run that was not in a hook."""
AHEAD = 2
"""Jobs handed out per worker, so that none waits for its next one."""


def _nothing() -> None:
    """The check of threads and of callers' executors, which need none."""


@dataclass(frozen=True)
class Pool:
    """The workers, and the number of jobs at a time."""

    at_a_time: int
    executor: Executor | None = None
    """None for threads, created for the work and ended with it."""
    check: Callable[[], object] = _nothing
    """Called now and then; an exception from it ends the work, e.g. if no worker is left."""
    cancels: bool = False
    """The executor itself cancels pending work if it is closed early."""


def interruptible(work: Callable[[CancelToken], T]) -> T:
    """Does `work` on another thread, so that KeyboardInterrupt stops it at once."""
    cancel = CancelToken()
    results: list[T] = []
    run_all(work, [cancel], Pool(1), cancel, results.append)
    return results[0]


def run_all(
    work: Callable[[J], T],
    todo: Iterable[J],
    pool: Pool,
    cancel: CancelToken,
    on_done: Callable[[T], object],
    on_interrupt: Callable[[], object] = _nothing,
) -> None:
    """Does `work` on all of `todo`; `on_done` gets each result, on this thread.

    Without an executor, nothing is left running however it ends. `todo` is read only when there is room:
    neither it nor its results need fit into memory. On KeyboardInterrupt, pending work is cancelled, and
    `on_interrupt` is called before the running work is awaited; its notes name the hooks that it has stopped.
    """
    done: SimpleQueue[Future[T]] = SimpleQueue()
    jobs = iter(todo)
    under_way: set[Future[T]] = set()
    interrupt: KeyboardInterrupt | None = None
    with _interrupts_noted() as raise_noted:
        executor = pool.executor or ThreadPoolExecutor(pool.at_a_time)

        def submit() -> None:
            for job in islice(jobs, AHEAD * pool.at_a_time - len(under_way)):
                future = executor.submit(work, job)
                under_way.add(future)
                future.add_done_callback(done.put)

        try:
            submit()
            while under_way:
                future = _next(done, raise_noted, pool.check)
                under_way.remove(future)
                on_done(future.result())
                submit()
        except KeyboardInterrupt as caught:
            interrupt = caught
            on_interrupt()
            raise
        finally:
            cancel.cancel()
            if not pool.cancels:
                for future in under_way:
                    future.cancel()
            if pool.executor is None:
                _wait_for(under_way, cancel)
                executor.shutdown()
            if interrupt:
                _note_hooks(interrupt, under_way)
        raise_noted()


def _next(done: SimpleQueue[T], *checks: Callable[[], object]) -> T:
    """Checks now and then rather than wait endlessly, because Polars handles SIGINT with SA_RESTART."""
    while True:
        for check in checks:
            check()
        with suppress(Empty):
            return done.get(timeout=0.1)


def _wait_for(under_way: Collection[Future[T]], cancel: CancelToken) -> None:
    """Repeats the cancellation, which a user's Python code may catch."""
    while busy := [future for future in under_way if not future.done()]:
        wait(busy, timeout=0.2)
        cancel.cancel()


def _note_hooks(interrupt: KeyboardInterrupt, under_way: Collection[Future[T]]) -> None:
    """Adds which hooks of a user's Python code the interrupt has stopped: one of them may be endless."""
    ended = [future for future in under_way if future.done() and not future.cancelled()]
    stopped = [str(error) for future in ended if isinstance(error := future.exception(), Cancelled)]
    for text in dict.fromkeys(stopped):
        if text != CANCELLED:
            interrupt.add_note(text)


@contextmanager
def _interrupts_noted() -> Iterator[Callable[[], None]]:
    """Defers SIGINT: yields a function that raises it where it can do no harm.

    Raised inside an executor, KeyboardInterrupt can leave one of its locks held, and its threads would then
    wait for ever. If SIGINT is ignored, it stays ignored.
    """
    noted: list[int] = []
    if current_thread() is not main_thread() or getsignal(SIGINT) is not default_int_handler:
        yield lambda: None
        return

    def raise_noted() -> None:
        if noted:
            raise KeyboardInterrupt

    previous = signal(SIGINT, lambda number, _: noted.append(number))
    try:
        yield raise_noted
    finally:
        signal(SIGINT, previous)
