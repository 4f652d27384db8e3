"""Work on all cores that Ctrl-C can stop. The engine holds no GIL while it runs, so threads are enough."""

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

from airtcp._engine import CancelToken

J = TypeVar("J")
T = TypeVar("T")

AHEAD = 2
"""Jobs that are handed out for each that is being worked on, so that nobody waits for the next."""


def _nothing() -> None:
    """Of threads and of callers' executors: they need no care."""


@dataclass(frozen=True)
class Pool:
    """Who works, and how much at a time."""

    at_a_time: int
    executor: Executor | None = None
    """None: threads, which come and go with the work."""
    check: Callable[[], object] = _nothing
    """Called now and then: what it raises ends the work, for example where nothing can come any more."""
    cancels: bool = False
    """The executor cancels by itself what has not begun, when it is closed before all is done."""


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

    Without an executor, however it ends, nothing is left running. `todo` is asked for more when there is
    room: neither it nor its results need fit into memory. On KeyboardInterrupt, `on_interrupt` is called
    before what is running is waited for. What has not begun is cancelled.
    """
    done: SimpleQueue[Future[T]] = SimpleQueue()
    jobs = iter(todo)
    under_way: set[Future[T]] = set()
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
        except KeyboardInterrupt:
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
        raise_noted()


def _next(done: SimpleQueue[T], *checks: Callable[[], object]) -> T:
    """Looks up now and then: no wait is endless, for Polars handles SIGINT with SA_RESTART."""
    while True:
        for check in checks:
            check()
        with suppress(Empty):
            return done.get(timeout=0.1)


def _wait_for(under_way: Collection[Future[T]], cancel: CancelToken) -> None:
    """Of a user's Python that catches what should stop it, one asks again."""
    while busy := [future for future in under_way if not future.done()]:
        wait(busy, timeout=0.2)
        cancel.cancel()


@contextmanager
def _interrupts_noted() -> Iterator[Callable[[], None]]:
    """Notes SIGINT for the function that it yields to raise, where it can do no harm.

    Raised inside an executor, KeyboardInterrupt can leave one of its locks held, for which its threads then
    wait for ever. Where SIGINT raises nothing, it still does not.
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
