"""Runs candidates, and counts what that costs."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from airtcp._engine import Scenario
from airtcp.advise.candidates import Candidate
from airtcp.compare import Request, compare_all
from airtcp.records import Run
from airtcp.watching import Watcher

K = TypeVar("K", bound=Hashable)
Changes = Mapping[str, object]
Document = dict[str, Any]

QUEUES: Mapping[str, Document] = {
    "fq-codel": {"discipline": "fq-codel"},
    "red-ecn": {"discipline": "red", "ecn": True},
    "congestion-warning": {"discipline": "congestion-warning"},
}
"""The keys of `deployment.QUEUES`; those with a limit keep that of the path's own."""


@dataclass(frozen=True)
class Trial:
    """Candidates on one path, with the same seeds."""

    scenario: Scenario
    candidates: Sequence[Candidate]
    seeds: int
    skipped: int = 0
    """Seeds of the scenario that have been run before."""


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
        parts = [(key, queue, trial) for key, trial in trials.items() for queue in _queues(trial.candidates)]
        requests = [Request(_scenario(trial, queue)) for _, queue, trial in parts]
        self._watcher.expect(sum(len(r.scenario.schemes) * r.scenario.seeds for r in requests))
        comparisons = compare_all(
            requests, jobs=self._jobs, on_done=lambda _, run: self._watcher.done(run["scheme"])
        )
        for (key, queue, trial), comparison in zip(parts, comparisons, strict=True):
            names = {c.scheme: c.name for c in trial.candidates if c.queue == queue}
            for run in comparison.runs:
                self.events += run["events"]
                name = names[run["scheme"]]
                keep(key, name, cast(Run, {**run, "scheme": name}))
        if any(comparison.interrupted for comparison in comparisons):
            raise KeyboardInterrupt


def document(scenario: Scenario) -> Document:
    """The scenario with every default written out."""
    return tomllib.loads(scenario.to_toml())


def wireless(path: Document) -> Document:
    """The link in front of which the base station is."""
    link: Document = next(link for link in path["link"] if link["name"] == path["base_station"])
    return link


def _queues(candidates: Sequence[Candidate]) -> list[str | None]:
    return list(dict.fromkeys(candidate.queue for candidate in candidates))


def _scenario(trial: Trial, queue: str | None) -> Scenario:
    schemes = [candidate.scheme for candidate in trial.candidates if candidate.queue == queue]
    changes: dict[str, object] = {
        "schemes": schemes,
        "seeds": trial.seeds,
        "seed": trial.scenario.seed + trial.skipped,
    }
    if queue is not None:
        changes |= _queue_changes(trial.scenario, queue)
    return trial.scenario.vary(changes)


def _queue_changes(scenario: Scenario, queue: str) -> Changes:
    link = wireless(document(scenario))
    own = dict(QUEUES[queue])
    if queue != "fq-codel":
        own |= {key: link["queue"][key] for key in ("packets", "bytes") if key in link["queue"]}
    # Otherwise the way back would follow the way there.
    return {f"link.{link['name']}.queue": own, f"link.{link['name']}.reverse.queue": link["reverse"]["queue"]}
