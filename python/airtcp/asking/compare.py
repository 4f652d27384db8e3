"""Runs schemes × seeds on all cores."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, overload

from airtcp._engine import CancelToken, ControllerError, Scenario
from airtcp.asking.given import ScenarioLike, scenario_of, schemes_of
from airtcp.asking.on import On
from airtcp.control import CongestionControl
from airtcp.facts.failure import Failure
from airtcp.facts.records import Run
from airtcp.facts.scenario import plan
from airtcp.facts.series import SERIES_POINTS, series_of
from airtcp.results.comparison import Comparison, Finished, collected
from airtcp.results.side_by_side import SideBySide
from airtcp.running.executors import ExecutorError, opened
from airtcp.running.jobs import run_all
from airtcp.running.parcel import Parcel, packed
from airtcp.running.progress import watched
from airtcp.running.watching import Silent

if TYPE_CHECKING:
    from airtcp.asking.on_linux import Prepared


@dataclass(frozen=True)
class Request:
    """A scenario whose schemes and seeds are to run, and the time series to record."""

    scenario: Scenario
    series_interval_s: float | None = None
    """Time between samples; None for no time series."""
    series_of_every_seed: bool = False
    """Otherwise only the first seed of each scheme records time series."""


@dataclass(frozen=True)
class _Job:
    place: int
    scheme: str
    seed: int
    series_interval_s: float | None


_Todo = tuple[Scenario | Parcel, _Job]


@dataclass(frozen=True)
class _Outcome:
    place: int
    finished: Finished


@dataclass(frozen=True)
class _Failed:
    place: int
    failure: Failure


@overload
def compare(
    scenario: ScenarioLike | None = None,
    schemes: Sequence[str | type[CongestionControl]] | None = None,
    seeds: int | None = None,
    *,
    on: Literal["sim", "linux"] = "sim",
    duration: str | None = None,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    series: bool = True,
    interval_s: float | None = None,
    progress: bool = False,
    kernel: str | None = None,
    on_done: Callable[[Run], object] = ...,
    on_failed: Callable[[Failure], object] = ...,
) -> Comparison: ...


@overload
def compare(
    scenario: ScenarioLike | None = None,
    schemes: Sequence[str | type[CongestionControl]] | None = None,
    seeds: int | None = None,
    *,
    on: Literal["both"],
    duration: str | None = None,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    series: bool = True,
    interval_s: float | None = None,
    progress: bool = False,
    kernel: str | None = None,
    on_done: Callable[[Run], object] = ...,
    on_failed: Callable[[Failure], object] = ...,
) -> SideBySide: ...


def compare(
    scenario: ScenarioLike | None = None,
    schemes: Sequence[str | type[CongestionControl]] | None = None,
    seeds: int | None = None,
    *,
    on: On = "sim",
    duration: str | None = None,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    series: bool = True,
    interval_s: float | None = None,
    progress: bool = False,
    kernel: str | None = None,
    on_done: Callable[[Run], object] = lambda _: None,
    on_failed: Callable[[Failure], object] = lambda _: None,
) -> Comparison | SideBySide:
    """Run every scheme with every seed, on all cores or on `jobs` of them; the result is the same.

    `scenario` is a Scenario or a file's path; by default, the built-in lossy link. `schemes` (the first is
    the baseline), the number of `seeds` and the `duration` of a run override the scenario's. `executor`
    does the runs instead of this machine's threads: `"processes"`, `"dask://HOST:PORT"`, or any executor of
    `concurrent.futures`. With `series`, the first seed of each scheme records time series, one sample every
    `interval_s` seconds: 0 samples at every ACK, None 1500 times in a run. `progress` shows a progress bar;
    `on_done` or `on_failed` is called after each run, on this thread.

    Pass a congestion control written in Python as its class among the `schemes`; other schemes can then
    name it: `[Aimd, "aimd:beta=0.7", "cubic"]`. An error in it ends only that run.

    `on="linux"` runs on this host's kernel instead, in real time over an emulation of the same path;
    `on="both"` does both, side by side. The kernel's own `cubic`, `reno` and `bbr` are then always
    included, and schemes that cannot run on Linux are left out there and listed. This needs root and
    `airtcpd`, and makes one run at a time unless `jobs` is given: concurrent runs disturb each other.
    With `kernel`, such as `"6.1"`, they run on Debian's newest kernel of that version instead, in guests
    under qemu whose clocks count instructions: without root, on all cores, with the same packets each time.

    Raises ScenarioError, ExecutorError, OSError, and LinuxError if this host cannot do it. On
    KeyboardInterrupt, runs in progress are stopped and the finished ones returned.

    >>> import airtcp
    >>> found = airtcp.compare(schemes=["reno", "bbr"], seeds=2, duration="5s")
    >>> found.best
    ['bbr']
    >>> found.summary.select("scheme", "runs", "best").rows()
    [('reno', 2, False), ('bbr', 2, True)]
    """
    chosen = scenario_of(scenario, schemes=schemes_of(schemes), seeds=seeds, duration=duration)
    tell = _Tell(progress, on_done, on_failed)
    spacing = (chosen.duration_s / SERIES_POINTS if interval_s is None else interval_s) if series else None
    if kernel and on == "sim":
        raise ValueError(f"kernel={kernel!r} is for on='linux' and on='both'")
    if on == "sim":
        return _on_sim(chosen, spacing, jobs, executor, tell)
    if on not in ("linux", "both"):
        raise ValueError(f"on={on!r}: expected sim, linux, or both")
    if executor is not None:
        raise ExecutorError("an executor runs only simulations; kernel runs take place on this host")
    # Imported only if needed.
    from airtcp.asking.on_linux import prepare  # noqa: PLC0415

    prepared = prepare(chosen, kernel)
    sim = _on_sim(prepared.scenario, spacing, None, None, tell) if on == "both" else None
    if sim and sim.interrupted:
        return SideBySide(sim, prepared.nothing())
    linux = _on_linux(prepared, spacing, jobs or prepared.place.at_a_time, tell)
    return SideBySide(sim, linux) if sim else linux


@dataclass(frozen=True)
class _Tell:
    """Where progress is reported."""

    progress: bool
    on_done: Callable[[Run], object]
    on_failed: Callable[[Failure], object]

    @contextmanager
    def over(self, runs: int, name: str, run_s: float | None = None) -> Iterator[_Tell]:
        """Reports through a progress bar, if one is wanted."""
        with watched(name, run_s) if self.progress else nullcontext(Silent()) as watcher:
            watcher.expect(runs)

            def done(run: Run) -> None:
                watcher.done(run["scheme"])
                self.on_done(run)

            def failed(failure: Failure) -> None:
                watcher.done(failure.scheme)
                self.on_failed(failure)

            yield _Tell(self.progress, done, failed)

    def interrupted(self) -> None:
        """Says that the interrupted run is ending, which may take seconds."""
        if self.progress:
            print("Interrupted, finishing …", file=sys.stderr, flush=True)


def _on_sim(
    scenario: Scenario,
    interval_s: float | None,
    jobs: int | None,
    executor: str | Executor | None,
    tell: _Tell,
) -> Comparison:
    request = Request(scenario, interval_s)
    with tell.over(len(plan(scenario)), "comparing") as told:
        (found,) = compare_all(
            [request],
            jobs=jobs,
            executor=executor,
            on_done=lambda _, run: told.on_done(run),
            on_failed=lambda _, failure: told.on_failed(failure),
        )
    return found


def _on_linux(prepared: Prepared, interval_s: float | None, at_a_time: int, tell: _Tell) -> Comparison:
    run_s = prepared.scenario.duration_s / at_a_time if prepared.place.in_real_time else None
    with tell.over(prepared.runs, "on Linux", run_s) as told:
        return prepared.compare(interval_s, at_a_time, told.on_done, told.on_failed, told.interrupted)


def compare_all(
    requests: Sequence[Request],
    *,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    on_done: Callable[[int, Run], object] = lambda _, __: None,
    on_failed: Callable[[int, Failure], object] = lambda _, __: None,
) -> list[Comparison]:
    """Like `compare`, for several scenarios at once, so that no core waits for the last run of each.

    `on_done` gets the request's index in `requests` and the run; `on_failed` the index and the failure.
    """
    cancel = CancelToken()
    outcomes: list[list[Finished]] = [[] for _ in requests]
    failures: list[list[Failure]] = [[] for _ in requests]

    def on_this_machine(todo: _Todo) -> _Outcome | _Failed:
        return _run(todo, cancel)

    def keep(outcome: _Outcome | _Failed) -> None:
        if isinstance(outcome, _Failed):
            failures[outcome.place].append(outcome.failure)
            on_failed(outcome.place, outcome.failure)
        else:
            outcomes[outcome.place].append(outcome.finished)
            on_done(outcome.place, outcome.finished.run)

    interrupted = False
    stopped: tuple[str, ...] = ()
    try:
        with opened(executor, jobs) as pool:
            work, pack = (_run, packed) if pool.executor else (on_this_machine, _as_it_is)
            todo = _todo(requests, pack)
            run_all(work, todo, pool, cancel, keep)
    except KeyboardInterrupt as interrupt:
        interrupted, stopped = True, tuple(getattr(interrupt, "__notes__", ()))
    return [
        collected(request.scenario, found, failed, interrupted, stopped=stopped)
        for request, found, failed in zip(requests, outcomes, failures, strict=True)
    ]


def _jobs(place: int, request: Request) -> list[_Job]:
    def interval(seed: int) -> float | None:
        wanted = request.series_of_every_seed or seed == request.scenario.seed
        return request.series_interval_s if wanted else None

    return [_Job(place, scheme, seed, interval(seed)) for seed, scheme in plan(request.scenario)]


def _todo(requests: Sequence[Request], pack: Callable[[Scenario], Scenario | Parcel]) -> list[_Todo]:
    scenarios = [pack(request.scenario) for request in requests]
    return [
        (scenarios[place], job) for place, request in enumerate(requests) for job in _jobs(place, request)
    ]


def _as_it_is(scenario: Scenario) -> Scenario:
    return scenario


def _run(todo: _Todo, cancel: CancelToken | None = None) -> _Outcome | _Failed:
    found, job = todo
    scenario = found.scenario if isinstance(found, Parcel) else found
    try:
        record = scenario.run(job.scheme, job.seed, series_interval_s=job.series_interval_s, cancel=cancel)
    except ControllerError as error:
        return _Failed(job.place, Failure(job.scheme, job.seed, str(error)))
    run: Run = json.loads(record.to_json())
    series = None if job.series_interval_s is None else series_of(record, run)
    return _Outcome(job.place, Finished(run, series, tuple(record.hooks_not_run)))
