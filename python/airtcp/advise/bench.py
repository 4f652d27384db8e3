"""Runs candidates, and counts what that costs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from airtcp._engine import Scenario
from airtcp.advise.candidates import Candidate
from airtcp.compare import Request, compare_all
from airtcp.records import Run
from airtcp.scenarios import Document
from airtcp.watching import Watcher

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Trial:
    """Candidates on one path, with the same seeds."""

    scenario: Scenario
    candidates: Sequence[Candidate]
    seeds: int
    skipped: int = 0
    """Seeds of the scenario that have been run before."""

    def as_scenario(self) -> Scenario:
        """What runs all of it."""
        schemes = list(dict.fromkeys(candidate.name for candidate in self.candidates))
        return self.scenario.vary(schemes=schemes, seed=self.scenario.seed + self.skipped, seeds=self.seeds)


class Bench:
    """Runs trials on all cores, and sums up their events: what effort may depend on, since time may not."""

    def __init__(self, jobs: int | None, watcher: Watcher) -> None:
        self._jobs = jobs
        self._watcher = watcher
        self.events = 0

    def run(self, trials: Mapping[K, Trial], keep: Callable[[K, str, Run], object]) -> None:
        """`keep` gets the trial's key, the candidate's name and each run, always in the same order.

        Raises KeyboardInterrupt when everything has stopped and what was finished has been kept.
        """
        requests = [Request(trial.as_scenario()) for trial in trials.values()]
        self._watcher.expect(sum(len(r.scenario.schemes) * r.scenario.seeds for r in requests))
        comparisons = compare_all(
            requests, jobs=self._jobs, on_done=lambda _, run: self._watcher.done(run["scheme"])
        )
        for key, comparison in zip(trials, comparisons, strict=True):
            for run in comparison.runs:
                self.events += run["events"]
                keep(key, run["scheme"], run)
        if any(comparison.interrupted for comparison in comparisons):
            raise KeyboardInterrupt


def passes_gateway(path: Document) -> bool:
    """Does every flow that carries the scheme compared pass the base station?"""
    names = [link["name"] for link in path["link"]]
    station = names.index(path["base_station"])
    compared = [flow for flow in path["flow"] if "scheme" not in flow]
    return all(names.index(flow["enter"]) <= station <= names.index(flow["leave"]) for flow in compared)


def wireless(path: Document) -> Document:
    """The link in front of which the base station is."""
    link: Document = next(link for link in path["link"] if link["name"] == path["base_station"])
    return link
