"""Runs a sweep (points × schemes × seeds), or continues it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby, islice, product
from pathlib import Path
from typing import Any, cast

from airtcp._engine import CancelToken, Scenario, ScenarioError
from airtcp.facts.scenario import seeds_of
from airtcp.running.executors import engine, opened
from airtcp.running.jobs import Pool, run_all
from airtcp.running.parcel import Parcel, code_of, packed
from airtcp.sweep.errors import SweepError
from airtcp.sweep.grammar import Vary, from_values, parse
from airtcp.sweep.journal import Journal
from airtcp.sweep.plan import Plan, Point, make_plan
from airtcp.sweep.rows import Found
from airtcp.sweep.worker import Batch, Done, Run, Task, work

BATCH_S = 0.25
"""Target duration of a batch: long beside the transfer to a worker, short beside a person's patience."""
MAX_BATCH = 1000
SHOWN_MISTAKES = 5


@dataclass(frozen=True)
class Job:
    """A checked sweep, all of whose points can run."""

    scenario: Scenario
    plan: Plan
    identity: Mapping[str, Any]
    """What must be equal for finished runs to count, by name."""


@dataclass(frozen=True)
class Progress:
    """Progress of a sweep. `kept` counts the runs of earlier processes."""

    kept: int
    done: int
    total: int
    worker_seconds: float
    """Time of this process's runs, summed over all workers."""


@dataclass
class _State:
    """The state while it runs."""

    found: dict[int, Found]
    kept: int
    runs: int = 0
    seconds: float = 0.0
    recent_s: float = 0.0
    """Mean time of the runs in the last batch."""

    def batch_size(self) -> int:
        """One run until the duration of a run is known."""
        if not self.runs:
            return 1
        slow_s = max(self.seconds / self.runs, self.recent_s, 1e-9)
        return max(1, min(MAX_BATCH, int(BATCH_S / slow_s)))

    def add(self, done: Done) -> None:
        self.found.update(done.found)
        self.runs += len(done.found)
        self.seconds += done.seconds
        self.recent_s = done.seconds / len(done.found)


def prepare(
    scenario: Scenario,
    vary: Mapping[str, str | Sequence[object]] | Sequence[Vary],
    *,
    lhs: int | None = None,
    sample_seed: int = 1,
) -> Job:
    """Makes the plan and checks all of its points. Raises SweepError."""
    varies = [_vary(*item) for item in vary.items()] if isinstance(vary, Mapping) else list(vary)

    def accepts(plan: Plan, point: Point) -> bool:
        try:
            scenario.vary(dict(plan.changes(point)))
        except ScenarioError:
            return False
        return True

    plan = make_plan(
        varies, scenario.schemes, seeds_of(scenario), accepts, hypercube=lhs, sample_seed=sample_seed
    )
    identity = {
        "engine": engine(),
        "what varies": [f"{','.join(vary.keys)}={vary.spec}" for vary in varies],
        "the sample": [lhs, sample_seed] if lhs else None,
        "schemes": list(plan.schemes),
        "seeds": list(plan.seeds),
        "controllers": {name: sha256(code.encode()).hexdigest() for name, code in code_of(scenario).items()},
        "scenario": _checked(scenario, plan),
    }
    return Job(scenario, plan, identity)


def run(
    job: Job,
    *,
    directory: Path | None = None,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    fresh: bool = False,
    on_progress: Callable[[Progress], object] = lambda _: None,
) -> tuple[dict[int, Found], bool]:
    """Returns the runs' results by their place in the plan, and whether Ctrl-C stopped it.

    With a `directory`, finished runs are read from its journal, and new ones are written to it. Raises
    SweepError and ExecutorError.
    """
    with ExitStack() as stack:
        journal = None
        if directory is not None:
            journal = stack.enter_context(closing(Journal(directory, job.identity, fresh=fresh)))
        state = _State(journal.found if journal else {}, len(journal.found) if journal else 0)
        on_progress(_progress(job, state))
        if len(state.found) == job.plan.runs:
            return state.found, False
        try:
            # Not on the stack: an executor has to know how it ends.
            with opened(executor, jobs) as pool:
                _run_all(job, state, pool, journal, on_progress)
        except KeyboardInterrupt:
            return state.found, True
        except BrokenExecutor as error:
            raise SweepError(
                "a worker process died, perhaps out of memory; run the same command to resume"
            ) from error
    return state.found, False


def _run_all(
    job: Job, state: _State, pool: Pool, journal: Journal | None, on_progress: Callable[[Progress], object]
) -> None:
    cancel = CancelToken()

    def keep(done: Done) -> None:
        if journal:
            journal.add(done.found)
        state.add(done)
        on_progress(_progress(job, state))

    def on_this_machine(batch: Batch) -> Done:
        return work(batch, cancel)

    run_all(
        work if pool.executor else on_this_machine,
        _batches(job, state, packed(job.scenario) if pool.executor else job.scenario),
        pool,
        cancel,
        keep,
    )


def _progress(job: Job, state: _State) -> Progress:
    return Progress(state.kept, len(state.found), job.plan.runs, state.seconds)


def _batches(job: Job, state: _State, scenario: Scenario | Parcel) -> Iterator[Batch]:
    """Yields the runs not yet done, in the plan's order."""
    todo = _todo(job.plan, state.found)
    while chunk := list(islice(todo, state.batch_size())):
        tasks = [
            Task(job.plan.changes(job.plan.points[place]), [run for _, run in runs])
            for place, runs in groupby(chunk, key=lambda item: item[0])
        ]
        yield Batch(scenario, job.identity["engine"], tasks)


def _todo(plan: Plan, found: Mapping[int, Found]) -> Iterator[tuple[int, Run]]:
    """Yields the runs not yet done, each after the index of its point."""
    for index, point in enumerate(plan.points):
        pairs = product(plan.labels(point), plan.seeds)
        first = index * len(plan.schemes) * len(plan.seeds)
        for place, (label, seed) in enumerate(pairs, first):
            if place not in found:
                yield index, (place, label, seed)


def _vary(key: str, spec: str | Sequence[object]) -> Vary:
    return parse(key, spec) if isinstance(spec, str) else from_values(key, list(spec))


def _checked(scenario: Scenario, plan: Plan) -> str:
    """Returns a digest of every point as it runs, and of the files that the points name.

    Raises SweepError, which reports the first mistakes, each with its point.
    """
    digest = sha256()
    files = _files(scenario)
    mistakes = dict[str, str]()
    wrong = 0
    for point in plan.points:
        try:
            varied = scenario.vary(dict(plan.changes(point)))
        except ScenarioError as error:
            wrong += 1
            if len(mistakes) < SHOWN_MISTAKES:
                mistakes.setdefault(str(error), plan.describe(point))
            continue
        digest.update(varied.to_toml().encode())
        if not all(axis.is_number for axis in plan.axes):
            # A point may name other files.
            files |= _files(varied)
    if wrong:
        lines = [f"{point}: {text}" for text, point in mistakes.items()]
        count = f"{wrong} of {len(plan.points)} points are invalid, so nothing was run:"
        raise SweepError("\n".join([count, *lines]))
    digest.update("".join(sorted(files)).encode())
    return digest.hexdigest()


def _files(scenario: Scenario) -> set[str]:
    """Returns digests of the files that a scenario names."""
    _, arguments = cast(tuple[object, tuple[str]], scenario.__reduce__())
    files: Mapping[str, str] = json.loads(arguments[0])["files"]
    return {sha256(text.encode()).hexdigest() for text in files.values()}
