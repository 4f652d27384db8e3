"""What each scheme leaves to a CUBIC flow on the same path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from airtcp._engine import Scenario
from airtcp.advise.bench import Bench, Trial
from airtcp.advise.candidates import Candidate
from airtcp.facts.competition import COMPETITOR, competitor_bps, kept
from airtcp.facts.records import Run
from airtcp.facts.routes import way
from airtcp.facts.scenario import Document, document
from airtcp.facts.stats import Estimate

RIVAL = "cubic"
"""The most common congestion control: the default of Linux, Windows and Apple's systems (RFC 9438 §1)."""
HARMLESS = 0.85
STARVES = 0.4

Harm = Literal["harmless", "takes more than its share", "starves it", "not known"]


@dataclass(frozen=True)
class Share:
    """CUBIC's goodput beside the scheme relative to its goodput beside another CUBIC; 1 is as fair."""

    kept: Estimate
    word: Harm
    """What the whole interval shows; unknown if it shows nothing."""


@dataclass
class Beside:
    """The runs beside a CUBIC flow, by candidate."""

    runs: dict[str, list[Run]] = field(default_factory=dict)

    def run(self, scenario: Scenario, candidates: Sequence[Candidate], seeds: int, bench: Bench) -> None:
        """Runs candidates beside the competitor, which a candidate's own queue serves too."""
        wanted = list(dict.fromkeys([Candidate(RIVAL), *candidates]))
        trial = Trial(with_competitor(scenario), wanted, seeds)
        bench.run({None: trial}, lambda _, name, run: self.runs.setdefault(name, []).append(run))

    def share(self, name: str) -> Share | None:
        """Returns None if it did not run beside one, or if the competitor carries nothing in any case."""
        own = self._competitor_bps(RIVAL)
        beside = self._competitor_bps(name)
        seeds = sorted(own.keys() & beside.keys())
        found = kept([beside[seed] for seed in seeds], [own[seed] for seed in seeds])
        return judge(found) if found is not None and seeds else None

    def _competitor_bps(self, name: str) -> dict[int, float]:
        return {run["seed"]: competitor_bps(run) for run in self.runs.get(name, ())}


def with_competitor(scenario: Scenario) -> Scenario:
    """Adds a CUBIC flow beside the measured ones, with the same start and end."""
    flows: list[Document] = document(scenario)["flow"]
    model = next((flow for flow in flows if flow["measure"]), flows[0])
    rival = way(model) | {"start": model["start"], "name": COMPETITOR, "scheme": RIVAL, "measure": False}
    return scenario.vary({"flow": [*flows, rival]})


def judge(found: Estimate) -> Share:
    return Share(found, _word(found))


def _word(kept: Estimate) -> Harm:
    if kept.low is None or kept.high is None:
        return "not known"
    if kept.low >= HARMLESS:
        return "harmless"
    if kept.high < STARVES:
        return "starves it"
    return "takes more than its share" if kept.high < HARMLESS else "not known"
