"""The environment in which an experiment runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from airtcp._engine import Scenario
from airtcp.asking.compare import Request, compare_all
from airtcp.facts.records import Flow, Link, Run
from airtcp.facts.scenario import document
from airtcp.facts.series import Series
from airtcp.facts.summary import measured
from airtcp.results.comparison import Comparison
from airtcp.running.watching import Silent, Watcher

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

QUICK_SEEDS = 2
LABEL = 24
"""Letters of a case's key in a progress bar."""
UNITS: dict[str, float] = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "B/s": 8.0, "KB/s": 8e3, "MB/s": 8e6}
"""Each unit in bit/s. KB are 1000 bytes."""


@dataclass(frozen=True)
class Case:
    """One scenario to run."""

    scenario: str
    """The scenario's TOML text."""
    schemes: Sequence[str]
    sets: Mapping[str, object] = field(default_factory=dict)
    """Keys of the scenario to change, as `--set` does, e.g. {"link.wireless.loss.ber": 1e-6}."""
    seeds: int | None = None
    """Runs per scheme; None for the experiment's number."""
    series_interval_s: float | None = None
    """Time between samples of the time series; None for no series."""
    series_of_every_seed: bool = False
    """Otherwise only the first seed records a series."""


class Runs:
    """The results of a case by scheme; lists have one value per seed, in the order of the seeds."""

    def __init__(self, found: Comparison) -> None:
        self.found = found

    @property
    def schemes(self) -> list[str]:
        return self.found.scenario.schemes

    def of(self, scheme: str) -> list[Run]:
        runs = [run for run in self.found.runs if run["scheme"] == scheme]
        if not runs:
            raise KeyError(f"{scheme} was not run; only {', '.join(self.schemes)}")
        return runs

    def values(self, scheme: str, of: Callable[[Run], float]) -> list[float]:
        return [of(run) for run in self.of(scheme)]

    def goodput(self, scheme: str, unit: str = "bit/s", flow: str | None = None) -> list[float]:
        """Returns the goodput of all measured flows together, or of those called `flow`."""
        return [bps / UNITS[unit] for bps in self.total(scheme, lambda found: found["goodput_bps"], flow)]

    def total(self, scheme: str, of: Callable[[Flow], float], flow: str | None = None) -> list[float]:
        """Returns a flow's value, summed over all measured flows or over those called `flow`."""
        return [sum(of(found) for found in self.flows(run, flow)) for run in self.of(scheme)]

    def flows(self, run: Run, name: str | None = None) -> list[Flow]:
        """Returns the measured flows, or those called `name`."""
        if name is None:
            return measured(run)
        named = [flow for flow in run["flows"] if flow["name"] == name]
        if not named:
            raise KeyError(f"no flow called {name}")
        return named

    def link(
        self, scheme: str, of: Callable[[Link], float], name: str, direction: str = "forward"
    ) -> list[float]:
        """Returns the counts of one direction of the link called `name`."""
        return [of(_link(run, name, direction)) for run in self.of(scheme)]

    def series(self, scheme: str, seed: int | None = None) -> Series:
        """Returns a time series: the first seed's, unless every seed has one and `seed` selects it."""
        return self.found.all_series[scheme, self.found.scenario.seed if seed is None else seed]

    def every_series(self, scheme: str) -> list[Series]:
        return [found for (name, _), found in self.found.all_series.items() if name == scheme]


def _link(run: Run, name: str, direction: str) -> Link:
    for link in run["links"]:
        if (link["name"], link["direction"]) == (name, direction):
            return link
    known = ", ".join(f"{link['name']} {link['direction']}" for link in run["links"])
    raise KeyError(f"no link {name} {direction}: there are {known}")


@dataclass(frozen=True)
class Context:
    """Runs scenarios on all cores."""

    seeds: int
    """Runs per scheme, unless a case has its own number."""
    quick: bool = False
    """Only a test that everything works: a few seconds, and meaningless verdicts."""
    forced_seeds: int | None = None
    """The user's number, which overrides all others."""
    jobs: int | None = None
    watcher: Watcher = field(default_factory=Silent)

    def pick(self, full: T, *, quick: T) -> T:
        """Returns the second value for a quick run."""
        return quick if self.quick else full

    def run(
        self,
        scenario: str,
        schemes: Sequence[str],
        sets: Mapping[str, object] | None = None,
        *,
        seeds: int | None = None,
        series_interval_s: float | None = None,
        series_of_every_seed: bool = False,
        label: str = "",
    ) -> Runs:
        """Runs one scenario; `label` names it in the progress bar."""
        case = Case(scenario, schemes, sets or {}, seeds, series_interval_s, series_of_every_seed)
        return self.sweep({label: case})[label]

    def sweep(self, cases: Mapping[K, Case]) -> dict[K, Runs]:
        """Runs all cases without idle cores in between; the progress bar names each by its key.

        Raises ScenarioError before anything runs, KeyboardInterrupt once everything has stopped.
        """
        requests = [self._request(case) for case in cases.values()]
        labels = [_label(key) for key in cases]
        self.watcher.expect(sum(len(r.scenario.schemes) * r.scenario.seeds for r in requests))
        found = compare_all(
            requests,
            jobs=self.jobs,
            on_done=lambda place, run: self.watcher.done(f"{labels[place]} {run['scheme']}".strip()),
        )
        if any(comparison.interrupted for comparison in found):
            raise KeyboardInterrupt
        return dict(zip(cases, map(Runs, found), strict=True))

    def _request(self, case: Case) -> Request:
        schemes = list(dict.fromkeys(case.schemes))
        seeds = self.forced_seeds or (QUICK_SEEDS if self.quick else case.seeds or self.seeds)
        scenario = _parse(case.scenario, {**case.sets, "schemes": schemes, "seeds": seeds})
        return Request(on_time(scenario), case.series_interval_s, case.series_of_every_seed)


def on_time(scenario: Scenario) -> Scenario:
    """Lets each flow begin exactly at its `start`, as in the papers' experiments."""
    flows = [{**flow, "start_within": "0s"} for flow in document(scenario)["flow"]]
    return scenario.vary(flow=flows)


def altered(scenario: str, sets: Mapping[str, object]) -> str:
    """Returns the text of the scenario with keys changed: for a link at one point of a sweep."""
    return _parse(scenario, sets).to_toml()


def _parse(scenario: str, sets: Mapping[str, object]) -> Scenario:
    return Scenario.parse(scenario, [(key, _toml(value)) for key, value in sets.items()])


def _label(key: Hashable) -> str:
    words = key if isinstance(key, tuple) else (key,)
    return " ".join(str(word)[:LABEL] for word in words if word not in (None, ""))


def _toml(value: object) -> str:
    """Strings are kept as they are, so that quotes may be omitted and tables written in TOML."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
