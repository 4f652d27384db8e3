"""Runs schemes × seeds on all cores. The engine holds no GIL while it runs, so threads are enough."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from signal import SIGINT, default_int_handler, getsignal, signal
from threading import current_thread, main_thread
from typing import TypeVar

from airtcp._engine import CancelToken, Scenario
from airtcp.records import Run
from airtcp.series import Series, series_of

J = TypeVar("J")
T = TypeVar("T")

SERIES_POINTS = 1500
"""Points of the time series that are drawn: finer than a printed figure can show."""


@dataclass(frozen=True)
class Comparison:
    """What a comparison has found, ordered by scheme and seed."""

    scenario: Scenario
    runs: list[Run]
    all_series: dict[tuple[str, int], Series]
    """Time series by scheme and seed, of those runs that were to leave one."""
    interrupted: bool
    """Was it stopped before the end?"""

    @property
    def series(self) -> dict[str, Series]:
        """Of each scheme, the time series of its first seed."""
        first = self.scenario.seed
        return {scheme: series for (scheme, seed), series in self.all_series.items() if seed == first}


@dataclass(frozen=True)
class Request:
    """A scenario whose schemes and seeds are to run, and which time series they leave."""

    scenario: Scenario
    series_interval_s: float | None = None
    """Between two samples; None: no time series."""
    series_of_every_seed: bool = False
    """Otherwise only the first seed of each scheme leaves one."""


@dataclass(frozen=True)
class _Job:
    place: int
    scheme: str
    seed: int
    series_interval_s: float | None


@dataclass(frozen=True)
class _Outcome:
    place: int
    run: Run
    series: Series | None


def compare(
    scenario: Scenario,
    *,
    jobs: int | None = None,
    series: bool = True,
    on_done: Callable[[Run], object] = lambda _: None,
) -> Comparison:
    """Runs every scheme of the scenario with every seed; what it answers does not depend on `jobs`.

    With `series`, the first seed of each scheme also leaves its time series. `on_done` is called after each
    run, on this thread. On KeyboardInterrupt the runs under way are stopped, and the finished ones returned.
    """
    request = Request(scenario, scenario.duration_s / SERIES_POINTS if series else None)
    (found,) = compare_all([request], jobs=jobs, on_done=lambda _, run: on_done(run))
    return found


def compare_all(
    requests: Sequence[Request],
    *,
    jobs: int | None = None,
    on_done: Callable[[int, Run], object] = lambda _, __: None,
) -> list[Comparison]:
    """As `compare`, for several scenarios at once: no core waits for the last run of each.

    `on_done` is told the request's place among `requests`, and the run.
    """
    cancel = CancelToken()
    outcomes: list[list[_Outcome]] = [[] for _ in requests]

    def work(job: _Job) -> _Outcome:
        return _run(requests[job.place].scenario, job, cancel)

    def keep(outcome: _Outcome) -> None:
        outcomes[outcome.place].append(outcome)
        on_done(outcome.place, outcome.run)

    todo = [job for place, request in enumerate(requests) for job in _jobs(place, request)]
    interrupted = False
    try:
        _run_all(work, todo, jobs or os.cpu_count() or 1, cancel, keep)
    except KeyboardInterrupt:
        interrupted = True
    return [
        _collect(request.scenario, found, interrupted)
        for request, found in zip(requests, outcomes, strict=True)
    ]


def interruptible(work: Callable[[CancelToken], T]) -> T:
    """Does `work` on another thread, so that KeyboardInterrupt stops it at once."""
    cancel = CancelToken()
    results: list[T] = []
    _run_all(work, [cancel], 1, cancel, results.append)
    return results[0]


def plan(scenario: Scenario) -> list[tuple[int, str]]:
    """Seeds and schemes in the order in which they run.

    Seeds outside, schemes inside: what is finished when it is interrupted can still be compared.
    """
    return [(seed, scheme) for seed in seeds_of(scenario) for scheme in dict.fromkeys(scenario.schemes)]


def seeds_of(scenario: Scenario) -> list[int]:
    return list(range(scenario.seed, scenario.seed + scenario.seeds))


def _jobs(place: int, request: Request) -> list[_Job]:
    def interval(seed: int) -> float | None:
        wanted = request.series_of_every_seed or seed == request.scenario.seed
        return request.series_interval_s if wanted else None

    return [_Job(place, scheme, seed, interval(seed)) for seed, scheme in plan(request.scenario)]


def _run(scenario: Scenario, job: _Job, cancel: CancelToken) -> _Outcome:
    record = scenario.run(job.scheme, job.seed, series_interval_s=job.series_interval_s, cancel=cancel)
    run: Run = json.loads(record.to_json())
    series = None if job.series_interval_s is None else series_of(record, run)
    return _Outcome(job.place, run, series)


def _run_all(
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


def _collect(scenario: Scenario, outcomes: Sequence[_Outcome], interrupted: bool) -> Comparison:
    order = {scheme: place for place, scheme in enumerate(scenario.schemes)}
    ordered = sorted(outcomes, key=lambda outcome: (order[outcome.run["scheme"]], outcome.run["seed"]))
    return Comparison(
        scenario=scenario,
        runs=[outcome.run for outcome in ordered],
        all_series={
            (outcome.run["scheme"], outcome.run["seed"]): outcome.series
            for outcome in ordered
            if outcome.series
        },
        interrupted=interrupted,
    )
