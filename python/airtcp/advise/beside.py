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
from airtcp.facts.scenario import Document, document
from airtcp.facts.stats import Estimate

RIVAL = "cubic"
"""What most of the others on a path are: the default of Linux, Windows and Apple's systems (RFC 9438 §1)."""
HARMLESS = 0.85
STARVES = 0.4

Harm = Literal["harmless", "takes more than its share", "starves it", "not known"]


@dataclass(frozen=True)
class Share:
    """What CUBIC carries beside the scheme over what it carries beside another CUBIC: 1 is as fair."""

    kept: Estimate
    word: Harm
    """What the whole interval shows; not known where it shows nothing."""


@dataclass
class Beside:
    """What has been run beside a CUBIC flow, by candidate."""

    runs: dict[str, list[Run]] = field(default_factory=dict)

    def run(self, scenario: Scenario, candidates: Sequence[Candidate], seeds: int, bench: Bench) -> None:
        """A queue that a candidate brings along serves the competitor, too."""
        wanted = list(dict.fromkeys([Candidate(RIVAL), *candidates]))
        trial = Trial(with_competitor(scenario), wanted, seeds)
        bench.run({None: trial}, lambda _, name, run: self.runs.setdefault(name, []).append(run))

    def share(self, name: str) -> Share | None:
        """None where it has not run beside one, or where the competitor carries nothing in any case."""
        own = self._competitor_bps(RIVAL)
        beside = self._competitor_bps(name)
        seeds = sorted(own.keys() & beside.keys())
        found = kept([beside[seed] for seed in seeds], [own[seed] for seed in seeds])
        return judge(found) if found is not None and seeds else None

    def _competitor_bps(self, name: str) -> dict[int, float]:
        return {run["seed"]: competitor_bps(run) for run in self.runs.get(name, ())}


def with_competitor(scenario: Scenario) -> Scenario:
    """With a CUBIC flow beside the measured ones, from the same start to the same end."""
    flows: list[Document] = document(scenario)["flow"]
    model = next((flow for flow in flows if flow["measure"]), flows[0])
    rival = {key: model[key] for key in ("direction", "enter", "leave", "start")}
    rival |= {"name": COMPETITOR, "scheme": RIVAL, "measure": False}
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
