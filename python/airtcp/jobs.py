"""Work on all cores that Ctrl-C can stop. The engine holds no GIL while it runs, so threads are enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from signal import SIGINT, default_int_handler, getsignal, signal
from threading import current_thread, main_thread
from typing import TypeVar

from airtcp._engine import CancelToken

J = TypeVar("J")
T = TypeVar("T")


def interruptible(work: Callable[[CancelToken], T]) -> T:
    """Does `work` on another thread, so that KeyboardInterrupt stops it at once."""
    cancel = CancelToken()
    results: list[T] = []
    run_all(work, [cancel], 1, cancel, results.append)
    return results[0]


def run_all(
    work: Callable[[J], T],
    todo: Sequence[J],
    threads: int,
    cancel: CancelToken,
    on_done: Callable[[T], object],
) -> None:
    """Does `work` on all of `todo`; `on_done` gets each result, on this thread.

    However it ends, nothing is left running.
    """
    done: SimpleQueue[Future[T]] = SimpleQueue()
    with _interrupts_noted() as raise_noted:
        pool = ThreadPoolExecutor(threads)
        try:
            for job in todo:
                pool.submit(work, job).add_done_callback(done.put)
            for _ in todo:
                on_done(_next(done, raise_noted).result())
        finally:
            cancel.cancel()
            pool.shutdown(cancel_futures=True)
        raise_noted()


def _next(done: SimpleQueue[T], raise_noted: Callable[[], None]) -> T:
    """Looks up now and then: no wait is endless, for Polars handles SIGINT with SA_RESTART."""
    while True:
        raise_noted()
        with suppress(Empty):
            return done.get(timeout=0.1)


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
