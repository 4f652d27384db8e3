"""Schemes × seeds on this host's kernel."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from airtcp._engine import Scenario
from airtcp.facts.failure import Failure
from airtcp.facts.records import Run
from airtcp.facts.scenario import plan
from airtcp.linux.airtcpd import Airtcpd, find
from airtcp.linux.forms import Forms, forms, with_kernels_own
from airtcp.linux.host import host_of
from airtcp.linux.runs import Job, KernelRun, run_all
from airtcp.results.comparison import Comparison, Finished, collected


@dataclass(frozen=True)
class Prepared:
    """A comparison that can run on this host."""

    airtcpd: Airtcpd
    scenario: Scenario
    """The scenario with the kernel's own congestion controls, and with schemes that have no form on Linux."""
    forms: Forms

    @property
    def runs(self) -> int:
        """Number of runs to make."""
        return len(self.forms.schemes) * self.scenario.seeds

    def announcement(self, at_a_time: int) -> list[str]:
        """Says what will not run, and how long the rest takes."""
        total_s = -(-self.runs // at_a_time) * self.scenario.duration_s
        left_out = self.forms.left_out
        how = "one at a time" if at_a_time == 1 else f"{at_a_time} at a time"
        return [
            *([f"Not on Linux: {len(left_out)} of the schemes; see below the table."] if left_out else []),
            f"On Linux {os.uname().release}: {self.runs} runs in real time, {how}: {duration(total_s)}.",
        ]

    def compare(
        self,
        series_interval_s: float | None,
        at_a_time: int,
        on_done: Callable[[Run], object],
        on_failed: Callable[[Failure], object],
        on_interrupt: Callable[[], object],
    ) -> Comparison:
        """Makes the runs. Raises LinuxError. On KeyboardInterrupt the finished runs are returned."""
        scenario = self._runnable
        jobs = [
            Job(scenario, scheme, seed, series_interval_s if seed == scenario.seed else None)
            for seed, scheme in plan(scenario)
        ]
        finished: list[KernelRun] = []
        failures: list[Failure] = []

        def keep(_: Job, outcome: KernelRun | Failure) -> None:
            if isinstance(outcome, Failure):
                failures.append(outcome)
                on_failed(outcome)
            else:
                finished.append(outcome)
                on_done(outcome.run)

        interrupted = False
        try:
            run_all(jobs, at_a_time, keep, airtcpd=self.airtcpd, on_interrupt=on_interrupt)
        except KeyboardInterrupt:
            interrupted = True
        return self._collected(finished, failures, interrupted)

    def nothing(self) -> Comparison:
        """Returns the result of an interruption before the first run."""
        return self._collected([], [], interrupted=True)

    def _collected(
        self, finished: Sequence[KernelRun], failures: Sequence[Failure], interrupted: bool
    ) -> Comparison:
        return collected(
            self._runnable,
            [Finished(each.run, each.series) for each in finished],
            failures,
            interrupted,
            host=host_of(self.airtcpd.version, [each.host for each in finished]),
            left_out=self.forms.left_out,
        )

    @property
    def _runnable(self) -> Scenario:
        return self.scenario.vary(schemes=list(self.forms.schemes))


def prepare(scenario: Scenario) -> Prepared:
    """Finds `airtcpd` and asks it what of the scenario it can run. Raises LinuxError."""
    airtcpd = find()
    wanted = with_kernels_own(scenario)
    found = forms(airtcpd, wanted)
    airtcpd.check_privileges()
    return Prepared(airtcpd, wanted, found)


def duration(time_s: float) -> str:
    """Returns a time in words, in seconds, minutes or hours."""
    if time_s < 120:
        return f"{time_s:.0f} s"
    return f"{time_s / 60:.0f} min" if time_s < 7200 else f"{time_s / 3600:.1f} h"
