"""What a thread, a process or another machine does: a batch of runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from time import perf_counter

from airtcp._engine import CancelToken, ControllerError, Scenario, version
from airtcp.sweep.errors import SweepError
from airtcp.sweep.rows import Found, measures

Run = tuple[int, str, int]
"""Place in the plan, scheme as it runs, seed."""


@dataclass(frozen=True)
class Task:
    """The runs of one point that are in a batch."""

    changes: Sequence[tuple[str, str]]
    runs: Sequence[Run]


@dataclass(frozen=True)
class Batch:
    """Runs that are worth a trip to a worker."""

    scenario: Scenario
    engine: str
    """The worker must have the same."""
    tasks: Sequence[Task]


@dataclass(frozen=True)
class Done:
    """What a batch found."""

    found: Sequence[tuple[int, Found]]
    seconds: float
    """How long it took: for a guess at the size of the next ones."""


def work(batch: Batch, cancel: CancelToken | None = None) -> Done:
    """Raises SweepError on an engine that is not the one that the batch expects, and Cancelled."""
    check_engine(engine(), batch.engine)
    begin = perf_counter()
    found = list[tuple[int, Found]]()
    for task in batch.tasks:
        scenario = batch.scenario.vary(dict(task.changes))
        found += [(place, _run(scenario, scheme, seed, cancel)) for place, scheme, seed in task.runs]
    return Done(found, perf_counter() - begin)


def _run(scenario: Scenario, scheme: str, seed: int, cancel: CancelToken | None) -> Found:
    try:
        record = scenario.run(scheme, seed, cancel=cancel)
    except ControllerError as error:
        return str(error)
    return measures(json.loads(record.to_json()))


def check_engine(theirs: str, expected: str) -> None:
    if theirs != expected:
        raise SweepError(
            f"a worker has another engine ({theirs}) than this machine ({expected}), and would not give the "
            "same numbers: install the same version of airtcp there, and start it again"
        )


@cache
def engine() -> str:
    """The engine's version, and what it makes of a short run: two that agree give the same numbers."""
    probe = Scenario.built_in([("duration", "1s")])
    runs = [probe.run(scheme, 1).to_json() for scheme in ("reno", "cubic", "bbr")]
    return f"{version()}-{sha256(''.join(runs).encode()).hexdigest()[:12]}"
