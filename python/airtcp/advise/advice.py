"""The result of `advise`: plain data, as `--json` writes it."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from airtcp.advise.air import Air
from airtcp.advise.beside import Share
from airtcp.advise.deployment import Airtcp, Place, Stage
from airtcp.advise.standing import Place as Rank
from airtcp.facts.stats import Estimate
from airtcp.facts.summary import SchemeSummary
from airtcp.results.document import schema_of


@dataclass(frozen=True)
class Needs:
    """What a candidate needs, all its parts together."""

    places: tuple[Place, ...]
    stage: Stage
    """Stage of the part that takes the most effort."""
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

    `gain` is relative to the current scheme; None if the candidate has not run all seeds of that.
    """

    name: str
    scheme: str
    queue: str | None
    standing: Rank
    behind: Estimate | None
    """How much worse than the best, as a share of the best."""
    gain: Estimate | None
    better: bool
    """Whether it is surely better than the current scheme by more than the margin."""
    reached: Estimate
    """Goodput in bit/s or completion time in s, scaled to all seeds that the current scheme has run."""
    rtt_p95_ms: float | None
    """The sender's RTT, scaled likewise; None behind a proxy, where the sender's round trips end."""
    summary: SchemeSummary
    """Summary over the seeds that it has run."""
    share: Share | None
    """The share that it leaves to a CUBIC flow; None if it did not run beside one."""
    needs: Needs


@dataclass(frozen=True)
class Cell:
    """The answer on a similar path. Factors are relative to the measured path, which has 1."""

    loss: float
    """Share of full packets lost on the wireless link."""
    delay_factor: float
    rate_factor: float
    burst_packets: float
    best: str
    tied: tuple[str, ...]
    now_behind: Estimate | None
    """How much worse the current scheme is than the best; None if it is the best."""
    recommended_behind: Estimate | None
    """How much worse the recommended scheme is than the best; None if it is the best."""


@dataclass(frozen=True)
class UnderReading:
    """The answer under one reading of an ambiguous measurement."""

    reading: str
    """The end of a sentence that begins with `if`."""
    stands_in: bool
    """Whether the rest of the answer rests on this reading."""
    use: str
    keep_now: bool
    tied: tuple[str, ...]
    """Other deployable candidates in a statistical tie with it."""
    reached: Estimate
    """Goodput in bit/s or completion time in s of the scheme to use."""
    reached_now: Estimate
    """The same measure for the current scheme."""
    decides: str
    """A sentence that names the measurement that would decide."""

    @property
    def as_good(self) -> tuple[str, ...]:
        return (self.use, *self.tied)


@dataclass(frozen=True)
class Alone:
    """The best choice for somebody who controls one place only."""

    place: Place
    use: str | None
    """None if nothing helps significantly."""


@dataclass(frozen=True)
class Recommendation:
    """What to do, and what else is worth saying."""

    use: str
    keep_now: bool
    """No deployable candidate is surely better by more than the margin."""
    gain: Estimate | None
    tied: tuple[str, ...]
    """Other deployable candidates that are as good or in a statistical tie."""
    not_deployable: str | None
    """A candidate that would surely be better if it were implemented."""
    gentler: str | None
    """The best candidate that leaves others their share, if the recommended one does not."""
    swifter: str | None
    """A nearly equal candidate with much lower delay."""
    alone: tuple[Alone, ...]
    """Empty if only one place is under control."""

    @property
    def named(self) -> tuple[str, ...]:
        """All candidates that the recommendation names."""
        uses = [self.use, self.gentler, self.swifter, *(alone.use for alone in self.alone)]
        return tuple(dict.fromkeys(use for use in uses if use))


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of text with its own heading."""

    title: str
    text: str


@dataclass(frozen=True)
class Advice:
    """What to use on a path. Times are in seconds, rates in bit/s, shares from 0 to 1."""

    format: Literal[1]
    airtcp: str
    command: str
    interrupted: bool
    quick: bool
    confidence: float
    margin: float
    """A candidate behind by less than this counts as good."""
    objective: Literal["goodput", "completion time"]
    traffic: str | None
    """`bulk` or `web`; None for the scenario's own traffic."""
    control: tuple[str, ...]
    now: str
    duration_s: float
    """Duration of each run on the path itself."""
    shortened_from_s: float | None
    """The scenario's duration, if that would have taken too long."""
    seed: int
    loss: float
    base_rtts_s: tuple[float, float]
    """Shortest and longest round-trip propagation delay of the measured flows."""
    unknown: tuple[str, ...]
    """What the measurement leaves open, in one or more sentences each."""
    rate_assumed: str | None
    """The assumed rate if the rate was not measured, in one or more sentences."""
    readings: tuple[UnderReading, ...]
    """One entry per reading of an ambiguous measurement, the assumed reading first; else empty."""
    notes: tuple[str, ...]
    """Further notes on how the answer was found."""
    scenario: dict[str, Any]
    scenario_toml: str
    """The scenario as a file."""
    recommendation: Recommendation | None
    """None if too little has run, or if nothing arrived."""
    air: Air | None
    """Who has the air, under the recommended scheme; None where links share no medium."""
    buffers: str | None
    """Says that the hosts' buffers limit every scheme, and the cure; None if they do not."""
    nothing_arrived: str | None
    """Says that nothing arrived with any scheme, and why; None otherwise."""
    not_closed: str | None
    """Says that the measured transfer does not do on the fitted path what it did, so that nothing is
    recommended; None otherwise."""
    loss_between: tuple[float, float] | None
    """Interval of the measured loss of full packets in the forward direction; None if not measured."""
    gain_between: tuple[float, float] | None
    """The recommendation's gain over the interval of the loss and by chance; None without a gain or a
    measurement."""
    text: tuple[Paragraph, ...]
    rows: tuple[Row, ...]
    around: tuple[Cell, ...]

    def report(self, path: str | PathLike[str]) -> None:
        """Writes the advice as one self-contained page. Raises OSError, and ValueError if nothing has run."""
        from airtcp.advise.page import advice_page  # noqa: PLC0415 the page's makers need this module

        advice_page(self).write(Path(path))

    def __str__(self) -> str:
        """The answer in words."""
        return "\n\n".join(f"{paragraph.title}\n{paragraph.text}" for paragraph in self.text)


def advice_schema() -> dict[str, Any]:
    """Returns the JSON Schema of what `airtcp advise --json` writes."""
    return schema_of(Advice)
