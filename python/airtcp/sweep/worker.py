"""The work of a thread, a process or another machine: a batch of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from airtcp._engine import CancelToken, ControllerError, Scenario
from airtcp.running.executors import check_engine, engine
from airtcp.running.parcel import Parcel
from airtcp.sweep.rows import Found, measures

Run = tuple[int, str, int]
"""Place in the plan, scheme as it runs, seed."""


@dataclass(frozen=True)
class Task:
    """The runs of one point in a batch."""

    changes: Sequence[tuple[str, str]]
    runs: Sequence[Run]


@dataclass(frozen=True)
class Batch:
    """Runs that are worth a transfer to a worker."""

    scenario: Scenario | Parcel
    engine: str
    """The worker's engine must be the same."""
    tasks: Sequence[Task]


@dataclass(frozen=True)
class Done:
    """The results of a batch."""

    found: Sequence[tuple[int, Found]]
    seconds: float
    """Its duration, from which the size of the next ones is estimated."""


def work(batch: Batch, cancel: CancelToken | None = None) -> Done:
    """Makes the runs. Raises ExecutorError if the engine is not the batch's, and Cancelled."""
    check_engine(engine(), batch.engine)
    begin = perf_counter()
    found = list[tuple[int, Found]]()
    base = batch.scenario.scenario if isinstance(batch.scenario, Parcel) else batch.scenario
    for task in batch.tasks:
        scenario = base.vary(dict(task.changes))
        found += [(place, _run(scenario, scheme, seed, cancel)) for place, scheme, seed in task.runs]
    return Done(found, perf_counter() - begin)


def _run(scenario: Scenario, scheme: str, seed: int, cancel: CancelToken | None) -> Found:
    try:
        record = scenario.run(scheme, seed, cancel=cancel)
    except ControllerError as error:
        return str(error)
    return measures(record, scheme)
