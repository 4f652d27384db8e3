"""The section on circuits of `docs/fidelity.md`, and the runs that it needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from os import cpu_count
from statistics import fmean

from airtcp._engine import CancelToken
from airtcp.facts.failure import Failure
from airtcp.linux.runs import Job, KernelRun, run_all
from airtcp.running import jobs
from airtcp_studies.fidelity.circuit_journal import CircuitJournal, OnLinux, Told, told
from airtcp_studies.fidelity.circuits import (
    DURATION_S,
    KEPT_ROWS,
    KEPT_RTT_MS,
    PAPERS_ROWS,
    PLAIN,
    REPORTS,
    WARMUP_S,
    Row,
    Setting,
)
from airtcp_studies.fidelity.measure import circumstances
from airtcp_studies.frame.docs import table
from airtcp_studies.papers.decoupling.shares import KEPT as KEPT_AIM

SEEDS = 2
AT_A_TIME = 2

INTRODUCTION = """\
## Circuits

Experiments of paper 000 on real packets: gateways in namespaces speak [the wire's format](circuit-wire.md),
the data TCP is airtcp's own behind the sender's kernel, and what is not in a circuit is the kernel's TCP.
{duration:g} s after a warm-up of {warmup:g} s, means of {seeds} seeds. Hosts and control TCPs are today's:
[docs/papers.md](papers.md) has the rows with the paper's stack. D8's data TCP has the paper's error control,
at a bit error rate of 2e-6; the others' has RACK. With none of the three and a long round trip, Linux is
slower than the simulator. A capture shows the receiver's window full of data behind holes: no new data
leaves, no duplicate ACK comes, and each hole waits for the timer. Why the simulator's runs do not come to
that was not found; tried: receive windows of 64, 256 and 450 kB and 1 MB there.
"""
KEPT = """\
What a kernel's TCP keeps beside a circuit with CUBIC control, of what it has beside itself: RTT {rtt:g} ms, a
queue that counts packets or bytes. With loss reports the receiving end counts the data that comes
(`loss_reports`); FEC has each header packet repeat the two before it (`fec=2`). The aim is {aim} % with
loss reports; on Linux {close} of {all} reach it.
"""


@dataclass
class CircuitRuns:
    """Both sides' runs of settings."""

    journal: CircuitJournal
    _simulated: dict[tuple[str, int], Told] = field(default_factory=dict)

    def missing(self, rows: Sequence[Row]) -> list[tuple[Setting, int]]:
        """Returns settings and seeds that Linux has not run yet."""
        return [each for each in _wanted(rows) if not self.journal.has(each[0].name, each[1])]

    def measure(
        self,
        rows: Sequence[Row],
        on_round: Callable[[int], object],
        on_done: Callable[[str, OnLinux | Failure], object],
    ) -> None:
        """Runs on Linux what is missing."""
        todo = self.missing(rows)
        if not todo:
            return
        on_round(len(todo))
        planned = [Job(setting.scenario(), PLAIN, seed) for setting, seed in todo]
        setting_of = {id(job): setting for job, (setting, _) in zip(planned, todo, strict=True)}

        def keep(job: Job, outcome: KernelRun | Failure) -> None:
            name = setting_of[id(job)].name
            found = outcome if isinstance(outcome, Failure) else _on_linux(name, job.seed, outcome)
            if isinstance(found, OnLinux):
                self.journal.add(found)
            on_done(name, found)

        run_all(planned, AT_A_TIME, keep)

    def simulate(self, rows: Sequence[Row]) -> None:
        cancel = CancelToken()

        def run(each: tuple[Setting, int]) -> tuple[tuple[str, int], Told]:
            setting, seed = each
            record = setting.scenario().run(PLAIN, seed, cancel=cancel)
            return (setting.name, seed), told(json.loads(record.to_json()))

        def keep(done: tuple[tuple[str, int], Told]) -> None:
            self._simulated[done[0]] = done[1]

        jobs.run_all(run, list(_wanted(rows)), jobs.Pool(cpu_count() or 1), cancel, keep)

    def values(self, row: Row) -> tuple[float, float]:
        """Returns the simulator's value and Linux's, once both have run."""
        return _mean(row, lambda name, seed: self._simulated[name, seed]), self.on_linux(row)

    def on_linux(self, row: Row) -> float:
        return _mean(row, lambda name, seed: self.journal.of(name, seed).told)


def papers_rows(journal: CircuitJournal) -> dict[str, list[list[str]]]:
    """Returns what Linux has measured, by experiment of paper 000: what it is, the paper's value, Linux's."""
    runs = CircuitRuns(journal)
    found: dict[str, list[list[str]]] = {}
    for row in PAPERS_ROWS:
        if not runs.missing([row]):
            cells = [row.what, row.paper, f"{runs.on_linux(row):{row.form}}"]
            found.setdefault(row.experiment, []).append(cells)
    return found


def _mean(row: Row, of: Callable[[str, int], Told]) -> float:
    seeds = range(1, SEEDS + 1)
    return fmean(row.value([of(setting.name, seed) for setting in row.settings]) for seed in seeds)


def _wanted(rows: Sequence[Row]) -> Iterator[tuple[Setting, int]]:
    settings = {setting.name: setting for row in rows for setting in row.settings}
    for setting in settings.values():
        yield from ((setting, seed) for seed in range(1, SEEDS + 1))


def _on_linux(setting: str, seed: int, run: KernelRun) -> OnLinux:
    return OnLinux(setting, seed, told(run.run), *circumstances(run))


def circuit_section(runs: CircuitRuns, rows: Sequence[Row]) -> Iterator[str]:
    """Yields the page's section: the rows that Linux has run, or nothing."""
    run = [row for row in rows if not runs.missing([row])]
    runs.simulate(run)
    known = {row: runs.values(row) for row in run}
    papers = [row for row in PAPERS_ROWS if row in known]
    if not papers:
        return
    yield INTRODUCTION.format(duration=DURATION_S - WARMUP_S, warmup=WARMUP_S, seeds=SEEDS)
    lines = [
        [row.experiment, row.what, row.paper, *(f"{value:{row.form}}" for value in known[row])]
        for row in papers
    ]
    yield from table(["", "", "paper", "simulator", "Linux"], lines)
    kept = [row for row in KEPT_ROWS if row in known]
    if len(kept) == len(KEPT_ROWS):
        reported = [known[row][1] for row in kept if not row.experiment.endswith(", no loss reports")]
        close = sum(share >= KEPT_AIM for share in reported)
        yield KEPT.format(rtt=KEPT_RTT_MS, aim=round(100 * KEPT_AIM), close=close, all=len(reported))
        yield from _kept({row: known[row] for row in kept})


def _kept(known: dict[Row, tuple[float, float]]) -> Iterator[str]:
    """Yields a line per control and queue, with its rows side by side."""
    columns = [f"{side}, {reports}" for reports in REPORTS for side in ("simulator", "Linux")]
    several = len(REPORTS)
    rows = list(known)
    lines = [
        [
            same[0].experiment.partition(",")[0],
            same[0].what,
            *(f"{100 * value:.0f} %" for row in same for value in known[row]),
        ]
        for same in (rows[at : at + several] for at in range(0, len(rows), several))
    ]
    yield from table(["", "queue", *columns], lines)
