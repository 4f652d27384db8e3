"""Makes runs on a kernel, this host's or a guest's: one `airtcpd run` each."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airtcp._engine import Cancelled, CancelToken, Scenario
from airtcp.facts.failure import Failure
from airtcp.facts.records import Run
from airtcp.facts.series import Series, series_of_parts
from airtcp.linux.airtcpd import find
from airtcp.linux.place import Place
from airtcp.running import jobs as work
from airtcp.running.scratch import scratch_folder

SPARE_S = 60.0
"""Time that a run may take for setup and teardown, beyond its duration."""
SHORTEST_INTERVAL_S = 1e-3
"""Shortest sampling interval of a socket that `airtcpd` can sustain."""


@dataclass(frozen=True)
class Job:
    """One run to make."""

    scenario: Scenario
    scheme: str
    seed: int
    series_interval_s: float | None = None
    """Time between samples of its time series; None for no series."""


@dataclass(frozen=True)
class KernelRun:
    """The result of a run on the kernel: a record as from the simulator, and `airtcpd`'s report of the
    host."""

    run: Run
    series: Series | None
    host: dict[str, Any]


def run_all(
    jobs: Sequence[Job],
    at_a_time: int = 1,
    on_done: Callable[[Job, KernelRun | Failure], object] = lambda _, __: None,
    *,
    place: Place | None = None,
    check: Callable[[], object] = lambda: None,
    on_interrupt: Callable[[], object] = lambda: None,
) -> list[KernelRun | Failure]:
    """Makes all runs of `jobs`, `at_a_time` in parallel, and returns the results in order.

    On this host's kernel, the default, each takes as long as its scenario says: it is real time. Parallel
    runs share the machine's cores and disturb each other's timing; `host["lateness"]` of each says whether
    the machine kept up. Schemes must have a Linux form: `forms` lists them. A run that fails gives a Failure
    with the reason. `on_done` is called after each run, on this thread; `check` now and then while it waits.

    Raises LinuxError if none can be run. On KeyboardInterrupt, or an error from `check`, runs in
    progress are ended and undone before it is raised, which may take seconds; on KeyboardInterrupt
    `on_interrupt` is called before that. `on_done` has been called for what was finished.
    """
    where = place or find()
    where.check_privileges()
    cancel = CancelToken()
    found: dict[int, KernelRun | Failure] = {}

    def keep(done: tuple[int, KernelRun | Failure]) -> None:
        place, outcome = done
        found[place] = outcome
        on_done(jobs[place], outcome)

    with scratch_folder() as folder:
        recipes = _Recipes(folder)
        todo = [(place, job, recipes.file(job.scenario)) for place, job in enumerate(jobs)]
        work.run_all(
            lambda each: (each[0], _run(where, each[1], each[2], folder / f"{each[0]}.json", cancel)),
            todo,
            work.Pool(at_a_time, check=check),
            cancel,
            keep,
            on_interrupt,
        )
    return [found[place] for place in range(len(jobs))]


class _Recipes:
    """Writes one file per scenario, however many runs read it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, Path] = {}

    def file(self, scenario: Scenario) -> Path:
        recipe = scenario.recipe_json()
        if recipe not in self._files:
            path = self._folder / f"recipe-{len(self._files)}.json"
            path.write_text(recipe, encoding="utf-8")
            self._files[recipe] = path
        return self._files[recipe]


def _run(place: Place, job: Job, recipe: Path, out: Path, cancel: CancelToken) -> KernelRun | Failure:
    options = ["--scheme", job.scheme, "--seed", str(job.seed)]
    if job.series_interval_s is not None:
        interval_s = max(job.series_interval_s, SHORTEST_INTERVAL_S)
        options += ["--series-interval", f"{1e9 * interval_s:.0f}ns"]
    ended = place.make(options, recipe, out, job.scenario.duration_s + SPARE_S, cancel)
    if cancel.cancelled:
        raise Cancelled
    if ended.status is None:
        return Failure(
            job.scheme, job.seed, f"still running {SPARE_S:g} s after its planned end; {ended.said}"
        )
    if ended.status:
        return Failure(job.scheme, job.seed, ended.said or f"airtcpd ended with status {ended.status}")
    try:
        return _read(job, out)
    except (OSError, ValueError, KeyError) as error:
        return Failure(job.scheme, job.seed, f"airtcpd left no readable record: {error!r}")


def _read(job: Job, out: Path) -> KernelRun:
    told = json.loads(out.read_text(encoding="utf-8"))
    out.unlink()
    run: Run = told["record"]
    # As requested, whatever the spelling in the record: runs are grouped by it.
    run["scheme"] = job.scheme
    series = None if told["series"] is None else series_of_parts(told["series"], run)
    return KernelRun(run, series, {"scheme": job.scheme, "seed": job.seed, "notes": [], **told["host"]})
