"""What `advise` answers: plain data, as `--json` writes it."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from airtcp.advise.beside import Share
from airtcp.advise.deployment import Airtcp, Place, Stage
from airtcp.advise.standing import Place as Rank
from airtcp.facts.stats import Estimate
from airtcp.facts.summary import SchemeSummary
from airtcp.results.document import schema_of


@dataclass(frozen=True)
class Needs:
    """What it takes to use a candidate, all its parts together."""

    places: tuple[Place, ...]
    stage: Stage
    """Of the part that takes most effort."""
    how: tuple[str, ...]
    airtcp: Airtcp
    root: bool
    headers: tuple[str, ...]
    encrypted: tuple[str, ...]
    cautions: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """One candidate on the path itself.

    `gain` is against what is there now, as a share of it; None for one that has not run all seeds of that.
    """

    name: str
    scheme: str
    queue: str | None
    standing: Rank
    behind: Estimate | None
    """How much worse than the best, as a share of the best."""
    gain: Estimate | None
    better: bool
    """Is it sure that it is better than what is there now, by more than the margin?"""
    reached: Estimate
    """Goodput in bit/s or completion time in s, as if it had run all seeds that what is there now has."""
    rtt_p95_ms: float | None
    """Of the sender, for all seeds likewise; None behind a proxy, with which its round trips end."""
    summary: SchemeSummary
    """Of the seeds that it has run."""
    share: Share | None
    """What it leaves to a CUBIC flow; None: not run beside one."""
    needs: Needs


@dataclass(frozen=True)
class Cell:
    """The answer on a path like this one. Factors are relative to the path; 1 is the path itself."""

    loss: float
    """Share of full packets that the wireless link loses."""
    delay_factor: float
    rate_factor: float
    burst_packets: float
    best: str
    tied: tuple[str, ...]
    now_behind: Estimate | None
    """How much worse what is there now is than the best; None where that is the best."""
    recommended_behind: Estimate | None
    """How much worse than the best the recommended one is there; None where it is the best."""


@dataclass(frozen=True)
class UnderReading:
    """The answer if the measurement is read in one way of those that it allows."""

    reading: str
    """The rest of a sentence that begins with `if`."""
    stands_in: bool
    """It is the one that all the rest of the answer rests on."""
    use: str
    keep_now: bool
    tied: tuple[str, ...]
    """Others that can be deployed and cannot be told from it."""
    reached: Estimate
    """By what is to be used: goodput in bit/s or completion time in s."""
    reached_now: Estimate
    """By what is there now."""
    decides: str
    """The measurement that would tell, a sentence."""

    @property
    def as_good(self) -> tuple[str, ...]:
        return (self.use, *self.tied)


@dataclass(frozen=True)
class Alone:
    """What somebody could do who controls one place only."""

    place: Place
    use: str | None
    """None: nothing that helps significantly."""


@dataclass(frozen=True)
class Recommendation:
    """What to do, and what else there is to say."""

    use: str
    keep_now: bool
    """Nothing that can be deployed is surely better by more than the margin."""
    gain: Estimate | None
    tied: tuple[str, ...]
    """Others that can be deployed and are as good, or cannot be told apart."""
    not_deployable: str | None
    """What would be surely better, if somebody had written it."""
    gentler: str | None
    """The best that leaves others their share, where the recommended one does not."""
    swifter: str | None
    """Nearly as good, with much lower delay."""
    alone: tuple[Alone, ...]
    """Empty where a single place is under control."""

    @property
    def named(self) -> tuple[str, ...]:
        """All that is recommended, or would be for some sake or somebody."""
        uses = [self.use, self.gentler, self.swifter, *(alone.use for alone in self.alone)]
        return tuple(dict.fromkeys(use for use in uses if use))


@dataclass(frozen=True)
class Paragraph:
    """A piece of the text under a heading of its own."""

    title: str
    text: str


@dataclass(frozen=True)
class Advice:
    """What to use on a path. Times in seconds, rates in bit/s, shares from 0 to 1."""

    format: Literal[1]
    airtcp: str
    command: str
    interrupted: bool
    quick: bool
    confidence: float
    margin: float
    """What is behind by less is called as good."""
    objective: Literal["goodput", "completion time"]
    traffic: str | None
    """`bulk` or `web`; None: the scenario's own."""
    control: tuple[str, ...]
    now: str
    duration_s: float
    """Of each run on the path itself."""
    shortened_from_s: float | None
    """Its duration in the scenario, where that would have taken too long."""
    seed: int
    loss: float
    base_rtt_s: float
    unknown: tuple[str, ...]
    """What the measurement could not tell, a sentence or more each."""
    rate_assumed: str | None
    """The same of the rate, where that stands in for one that was not measured."""
    readings: tuple[UnderReading, ...]
    """Empty where the measurement can be read in one way only; else one each, what stands in first."""
    notes: tuple[str, ...]
    """What else the reader should know of how this was found."""
    scenario: dict[str, Any]
    scenario_toml: str
    """The same as a file."""
    recommendation: Recommendation | None
    loss_between: tuple[float, float] | None
    """Between which shares the measured loss of full packets on the way there lies; None: not measured."""
    gain_between: tuple[float, float] | None
    """The recommendation's, over what the loss may be and by chance: None where there is none, or no
    measurement."""
    text: tuple[Paragraph, ...]
    rows: tuple[Row, ...]
    around: tuple[Cell, ...]

    def report(self, path: str | PathLike[str]) -> None:
        """Writes it as one page that opens offline. Raises OSError, ValueError where nothing has run."""
        from airtcp.advise.page import advice_page  # noqa: PLC0415 the page's makers need this module

        advice_page(self).write(Path(path))

    def __str__(self) -> str:
        """The answer in words."""
        return "\n\n".join(f"{paragraph.title}\n{paragraph.text}" for paragraph in self.text)


def advice_schema() -> dict[str, Any]:
    """The JSON Schema of what `airtcp advise --json` writes."""
    return schema_of(Advice)
