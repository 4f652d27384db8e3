"""Runs candidates and counts the cost."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from airtcp._engine import Scenario
from airtcp.advise.candidates import Candidate
from airtcp.advise.tunnel import tunnelled
from airtcp.asking.compare import Request, compare_all
from airtcp.facts.records import Run
from airtcp.facts.scenario import document
from airtcp.running.watching import Watcher

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Part:
    """One comparison of a trial. `names` maps schemes to candidates."""

    scenario: Scenario
    names: Mapping[str, str]


@dataclass(frozen=True)
class Trial:
    """Candidates on one path, with the same seeds."""

    scenario: Scenario
    candidates: Sequence[Candidate]
    seeds: int
    skipped: int = 0
    """Seeds of the scenario that have already run."""

    def parts(self) -> Iterator[Part]:
        """Returns the trial's comparisons: one for each path, with the tunnel and without."""
        path = document(self.scenario)
        for tunnel in dict.fromkeys(candidate.tunnel for candidate in self.candidates):
            names = {c.path_scheme: c.name for c in self.candidates if c.tunnel == tunnel}
            seeds = {"seed": self.scenario.seed + self.skipped, "seeds": self.seeds}
            changes = tunnelled(path, tunnel) if tunnel else {}
            yield Part(self.scenario.vary({**changes, **seeds, "schemes": list(names)}), names)


class Bench:
    """Runs trials on all cores and sums up their events. Effort may depend on events but not on time."""

    def __init__(self, jobs: int | None, watcher: Watcher) -> None:
        self._jobs = jobs
        self._watcher = watcher
        self.events = 0

    def run(self, trials: Mapping[K, Trial], keep: Callable[[K, str, Run], object]) -> None:
        """Runs all trials; `keep` gets the trial's key, the candidate's name and each run, in a fixed order.

        Raises KeyboardInterrupt after everything has stopped and the finished runs were kept.
        """
        parts = [(key, part) for key, trial in trials.items() for part in trial.parts()]
        requests = [Request(part.scenario) for _, part in parts]
        self._watcher.expect(sum(len(r.scenario.schemes) * r.scenario.seeds for r in requests))
        comparisons = compare_all(
            requests, jobs=self._jobs, on_done=lambda _, run: self._watcher.done(run["scheme"])
        )
        for (key, part), comparison in zip(parts, comparisons, strict=True):
            for run in comparison.runs:
                self.events += run["events"]
                name = part.names[run["scheme"]]
                keep(key, name, cast(Run, {**run, "scheme": name}))
        if any(comparison.interrupted for comparison in comparisons):
            raise KeyboardInterrupt
