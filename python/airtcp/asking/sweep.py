"""`airtcp sweep`: how schemes compare while keys of the scenario vary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from os import PathLike
from pathlib import Path

from airtcp.asking.given import ScenarioLike, scenario_of, schemes_of
from airtcp.control import CongestionControl
from airtcp.running.progress import watched
from airtcp.sweep.errors import SweepError
from airtcp.sweep.grammar import Vary
from airtcp.sweep.result import SweepResult
from airtcp.sweep.rows import frame
from airtcp.sweep.run import Job, Progress, prepare, run

__all__ = ["Job", "Progress", "SweepError", "SweepResult", "collect", "prepare", "sweep"]


def sweep(
    scenario: ScenarioLike | None,
    vary: Mapping[str, str | Sequence[object]] | Sequence[Vary],
    schemes: Sequence[str | type[CongestionControl]] | None = None,
    seeds: int | None = None,
    *,
    duration: str | None = None,
    lhs: int | None = None,
    sample_seed: int = 1,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    progress: bool = False,
    on_progress: Callable[[Progress], object] = lambda _: None,
) -> SweepResult:
    """Run every scheme with every seed at every point of a parameter sweep.

    `scenario`, `schemes`, `seeds` and `duration` are as in `compare`. `vary` maps each key to its values: a
    list, or text as for `--vary`, such as `"1e-7..1e-5:log:12"`, `"10ms,40ms"` or `"0.1%..5%:lin:5"`. A key
    is a scenario key, as in `Scenario.vary`; `scheme.KEY`, a key of all schemes; or `NAME.KEY`, a key of
    the schemes with the term NAME. The points form a grid, or with `lhs` a Latin hypercube of that many
    points, drawn with `sample_seed`.

    With a directory `out`, finished runs are kept there: the same call resumes where an earlier one
    stopped, unless `fresh` is set, and the data are written there at the end. `executor` is `"threads"`,
    `"processes"`, `"dask://HOST:PORT"` or any executor of `concurrent.futures`; `jobs` is the number of
    batches worked on at a time. None of these changes the result. `progress` shows a progress bar;
    `on_progress` is called on this thread. On KeyboardInterrupt, the finished runs are returned.

    Raises SweepError, ScenarioError, ExecutorError and OSError.

    >>> import airtcp
    >>> loss = {"wireless.loss.packet": "0,0.1%..3%:log:2"}
    >>> found = airtcp.sweep(None, loss, schemes=["reno", "bbr"], seeds=2, duration="5s")
    >>> found.plan.size
    '3 points × 2 schemes × 2 seeds = 12 runs'
    >>> found.summary.filter("best").select("wireless.loss.packet", "scheme").rows()
    [(0.0, 'bbr'), (0.001, 'bbr'), (0.03, 'bbr')]
    """
    chosen = scenario_of(scenario, schemes=schemes_of(schemes), seeds=seeds, duration=duration)
    job = prepare(chosen, vary, lhs=lhs, sample_seed=sample_seed)
    directory = None if out is None else Path(out)
    if directory:
        directory.mkdir(parents=True, exist_ok=True)
    with _shown(on_progress) if progress else nullcontext(on_progress) as told:
        found = collect(job, directory=directory, fresh=fresh, jobs=jobs, executor=executor, on_progress=told)
    if directory and not found.interrupted:
        found.save_data(directory)
    return found


@contextmanager
def _shown(on_progress: Callable[[Progress], object]) -> Iterator[Callable[[Progress], object]]:
    """Adds a progress bar to `on_progress`."""
    with watched("sweeping") as watcher:
        total, done = 0, 0

        def told(progress: Progress) -> None:
            nonlocal total, done
            watcher.expect(progress.total - total)
            for _ in range(done, progress.done):
                watcher.done("")
            total, done = progress.total, progress.done
            on_progress(progress)

        yield told


def collect(
    job: Job,
    *,
    directory: Path | None = None,
    fresh: bool = False,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    on_progress: Callable[[Progress], object] = lambda _: None,
) -> SweepResult:
    """Runs a job from `prepare`. Raises SweepError."""
    found, interrupted = run(
        job, directory=directory, fresh=fresh, jobs=jobs, executor=executor, on_progress=on_progress
    )
    return SweepResult(
        scenario=job.scenario,
        plan=job.plan,
        frame=frame(job.plan, found),
        engine=job.identity["engine"],
        interrupted=interrupted,
    )
