"""Schemes × seeds on this host's kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from airtcp._engine import Scenario
from airtcp.facts.failure import Failure
from airtcp.facts.records import Run
from airtcp.facts.scenario import plan
from airtcp.linux.airtcpd import find
from airtcp.linux.forms import Forms, forms, with_kernels_own
from airtcp.linux.guest.guest import guest
from airtcp.linux.host import host_of
from airtcp.linux.place import Place
from airtcp.linux.runs import Job, KernelRun, run_all
from airtcp.results.comparison import Comparison, Finished, collected


@dataclass(frozen=True)
class Prepared:
    """A comparison that can run on a kernel."""

    place: Place
    scenario: Scenario
    """The scenario with the kernel's own congestion controls, and with schemes that have no form on Linux."""
    forms: Forms

    @property
    def runs(self) -> int:
        """Number of runs to make."""
        return len(self.forms.schemes) * self.scenario.seeds

    def announcement(self, at_a_time: int) -> list[str]:
        """Says what will not run, and how long the rest takes."""
        left_out = self.forms.left_out
        how = "one at a time" if at_a_time == 1 else f"{at_a_time} at a time"
        if self.place.in_real_time:
            time = duration(-(-self.runs // at_a_time) * self.scenario.duration_s)
            runs = f"{self.runs} runs in real time, {how}: {time}"
        else:
            runs = f"{self.runs} runs, each in a guest of its own, {how}"
        return [
            *([f"Not on Linux: {len(left_out)} of the schemes; see below the table."] if left_out else []),
            f"On Linux {self.place.kernel}: {runs}.",
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
            run_all(jobs, at_a_time, keep, place=self.place, on_interrupt=on_interrupt)
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
            host=host_of(self.place, [each.host for each in finished]),
            left_out=self.forms.left_out,
        )

    @property
    def _runnable(self) -> Scenario:
        return self.scenario.vary(schemes=list(self.forms.schemes))


def prepare(scenario: Scenario, kernel: str | None = None) -> Prepared:
    """Finds `airtcpd` and asks it what of the scenario it can run. Raises LinuxError.

    `kernel` is one of Debian's, such as `6.1`, for runs in guests; None for this host's.
    """
    place = kernel_place(kernel)
    wanted = with_kernels_own(scenario)
    found = forms(place, wanted)
    place.check_privileges()
    return Prepared(place, wanted, found)


def kernel_place(kernel: str | None) -> Place:
    """Returns this host, or for a version such as `6.1` guests with that kernel. Raises LinuxError."""
    return guest(kernel, find()) if kernel else find()


def duration(time_s: float) -> str:
    """Returns a time in words, in seconds, minutes or hours."""
    if time_s < 120:
        return f"{time_s:.0f} s"
    return f"{time_s / 60:.0f} min" if time_s < 7200 else f"{time_s / 3600:.1f} h"
