"""Runs schemes × seeds on all cores."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from airtcp._engine import CancelToken, Scenario
from airtcp.comparison import Comparison
from airtcp.jobs import run_all
from airtcp.records import Run
from airtcp.series import Series, series_of

SERIES_POINTS = 1500
"""Points of the time series that are drawn: finer than a printed figure can show."""


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
        run_all(work, todo, jobs or os.cpu_count() or 1, cancel, keep)
    except KeyboardInterrupt:
        interrupted = True
    return [
        _collect(request.scenario, found, interrupted)
        for request, found in zip(requests, outcomes, strict=True)
    ]


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
