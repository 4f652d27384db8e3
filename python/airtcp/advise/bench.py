"""Runs candidates, and counts what that costs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from airtcp._engine import Scenario
from airtcp.advise.candidates import Candidate
from airtcp.compare import Request, compare_all
from airtcp.records import Run
from airtcp.scenarios import Document, document
from airtcp.watching import Watcher

K = TypeVar("K", bound=Hashable)
Changes = Mapping[str, object]

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
        parts = [(key, part) for key, trial in trials.items() for part in _parts(trial)]
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


@dataclass(frozen=True)
class _Part:
    """What of a trial is one comparison. `names` are the candidates' by scheme."""

    scenario: Scenario
    names: Mapping[str, str]


def _parts(trial: Trial) -> Iterator[_Part]:
    path = document(trial.scenario)
    for queue in dict.fromkeys(candidate.queue for candidate in trial.candidates):
        names = {c.scheme: c.name for c in trial.candidates if c.queue == queue}
        seeds = {"seed": trial.scenario.seed + trial.skipped, "seeds": trial.seeds}
        changes = {"schemes": list(names), **_queue_changes(path, queue), **seeds}
        yield _Part(trial.scenario.vary(changes), names)


def _queue_changes(path: Document, queue: str | None) -> Changes:
    if queue is None:
        return {}
    link = wireless(path)
    own = dict(QUEUES[queue])
    if queue != "fq-codel":
        own |= {key: link["queue"][key] for key in ("packets", "bytes") if key in link["queue"]}
    # Otherwise the way back would follow the way there.
    return {f"link.{link['name']}.queue": own, f"link.{link['name']}.reverse.queue": link["reverse"]["queue"]}
