"""The results of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Literal

import polars as pl

from airtcp._engine import Scenario
from airtcp.facts.arrival import nothing_arrived
from airtcp.facts.assumption import Assumption
from airtcp.facts.failure import Failure, failure_notes
from airtcp.facts.finishing import unfinished_notes
from airtcp.facts.hooks import HookNotRun, hook_notes
from airtcp.facts.placement import placement_notes
from airtcp.facts.records import Run
from airtcp.facts.scenario import document, headline, replays
from airtcp.facts.series import NO_SERIES, Series
from airtcp.facts.summary import COMPLETION, SchemeSummary, objective, summarise_all
from airtcp.facts.verdict import Verdict, verdict
from airtcp.linux.forms import LeftOut, left_out_notes
from airtcp.linux.host import Host
from airtcp.results.document import Results, results, to_json
from airtcp.results.frames import (
    circuits_frame,
    flows_frame,
    links_frame,
    stacked,
    summary_frame,
    write_frames,
)
from airtcp.results.shown import USUAL_FORMATS, Format, Shown


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """The results of a comparison, ordered by scheme and seed.

    In a notebook it displays its table, verdict and figure; in a terminal, table and verdict.
    """

    scenario: Scenario
    runs: list[Run]
    """Each run as the engine recorded it: `airtcp.records.Run`."""
    all_series: dict[tuple[str, int], Series]
    """Time series by scheme and seed, for the runs that recorded them."""
    interrupted: bool
    """Whether it was stopped before the end."""
    failures: list[Failure] = field(default_factory=list)
    """Runs that ended in an error."""
    fitted: tuple[Assumption, ...] | None = None
    """Assumptions, if the scenario was fitted to measurements; None if unknown."""
    host: Host | None = None
    """The machine on whose kernel it ran; None if it ran in the simulator."""
    left_out: tuple[LeftOut, ...] = ()
    """Requested schemes that cannot run there."""
    hooks_not_run: tuple[HookNotRun, ...] = ()
    """Required hooks of congestion controls in Python that ran in none of a scheme's runs."""
    stopped: tuple[str, ...] = ()
    """Hooks that were running when it was interrupted."""

    @property
    def backend(self) -> Literal["sim", "linux"]:
        """Where it ran."""
        return "linux" if self.host else "sim"

    @property
    def headline(self) -> str:
        """Name and description, the number of runs, and where they ran if not in the simulator."""
        where = f", on Linux {self.host.kernel}" if self.host else ""
        return headline(self.scenario) + where

    @property
    def has_run(self) -> bool:
        """Whether any run has ended, successfully or not."""
        return bool(self.runs or self.failures)

    @property
    def failed_schemes(self) -> list[str]:
        """Schemes without a finished run and with at least one failure."""
        fine = {run["scheme"] for run in self.runs}
        return [scheme for scheme in dict.fromkeys(f.scheme for f in self.failures) if scheme not in fine]

    @cached_property
    def summaries(self) -> list[SchemeSummary]:
        """One per scheme, in the order of the scenario."""
        return summarise_all(self.runs)

    @cached_property
    def verdict(self) -> Verdict | None:
        """The best scheme and its ties, or that nothing arrived; None if there is nothing to compare."""
        return verdict(self.runs, replays=replays(document(self.scenario)))

    @property
    def nothing_arrived(self) -> bool:
        """Whether no measured flow received anything in any run."""
        return nothing_arrived(self.runs) is not None

    @property
    def best(self) -> list[str]:
        """The best scheme and those statistically tied with it; empty if there is none."""
        found = self.verdict
        return [found.best, *found.tied] if found and found.best else []

    @property
    def first_series(self) -> dict[str, Series]:
        """The time series of each scheme's first seed."""
        first = self.scenario.seed
        return {scheme: series for (scheme, seed), series in self.all_series.items() if seed == first}

    @property
    def summary(self) -> pl.DataFrame:
        """One row per scheme: means over the seeds, and the bounds `_low` and `_high` of 95 % intervals.

        `gain` is the mean paired difference of the objective to the first scheme, as a share of that
        scheme's mean; `retransmitted` is a share of the data packets sent; timeouts are per run.
        """
        return summary_frame(self.summaries, self.best)

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow and run, with the columns of `airtcp.records.Flow`."""
        return flows_frame(self.runs)

    @property
    def links(self) -> pl.DataFrame:
        """One row per link, direction and run, with the columns of `airtcp.records.Link`."""
        return links_frame(self.runs)

    @property
    def circuits(self) -> pl.DataFrame:
        """One row per TCP circuit and run, with the columns of `airtcp.records.Circuit`."""
        return circuits_frame(self.runs)

    @property
    def series(self) -> pl.DataFrame:
        """One row per sample and measured flow: `time_s`, `cwnd_bytes`, `srtt_s`, `una_bytes`, ….

        Like `queues` and `events`, for the first seed of each scheme. Raises ValueError if the comparison
        was made with `series=False`.
        """
        return self._stacked("flows")

    @property
    def queues(self) -> pl.DataFrame:
        """One row per sample, link and direction. Raises ValueError as `series` does."""
        return self._stacked("queues")

    @property
    def events(self) -> pl.DataFrame:
        """One row per loss, retransmission and timeout, and per interval with duplicate ACKs.

        Raises ValueError as `series` does.
        """
        return self._stacked("events")

    @property
    def deliveries(self) -> pl.DataFrame:
        """One row per sample: data received by each measured flow. Raises ValueError as `series` does."""
        return self._stacked("deliveries")

    @property
    def rtts(self) -> pl.DataFrame:
        """A histogram of each measured flow's RTT samples. Raises ValueError as `series` does."""
        return self._stacked("rtts")

    @property
    def main_figure(self) -> str:
        """The name of the figure of the objective."""
        return "completion" if objective(self.runs) is COMPLETION else "goodput"

    def results(self, command: str | None = None) -> Results:
        """The content of `results.json`; `command` reproduces the comparison."""
        return results(self, command)

    def save(
        self,
        directory: str | PathLike[str],
        command: str | None = None,
        *,
        formats: Sequence[Format] = USUAL_FORMATS,
    ) -> list[Path]:
        """Write `results.json`, Parquet files and figures in these `formats`, like `airtcp compare --out`.

        The same comparison leaves the same bytes. Returns the paths. Raises OSError.
        """
        return [*self.save_data(directory, command), *self.save_figures(directory, formats)]

    def save_data(self, directory: str | PathLike[str], command: str | None = None) -> list[Path]:
        """As `save`, without figures."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        document = folder / "results.json"
        document.write_text(to_json(self.results(command)), encoding="utf-8")
        frames = {"flows": self.flows}
        if self.all_series:
            frames |= {"series": self.series, "queues": self.queues, "events": self.events}
        return [document, *write_frames(frames, folder)]

    @property
    def notes(self) -> list[str]:
        """Text below the table: the verdict, and what is missing."""
        said = [self.verdict.text] if self.verdict else []
        return [*said, *self.placement, *left_out_notes(self.left_out), *self.remarks]

    @property
    def placement(self) -> list[str]:
        """On which of several links the schemes act that do so in the middle of the path."""
        return placement_notes(self.scenario, self.scenario.schemes)

    @property
    def remarks(self) -> list[str]:
        """What did not finish, where it was interrupted, how the host differed, and what failed."""
        said = unfinished_notes(self.runs, document(self.scenario))
        if self.interrupted:
            total = len(self.scenario.schemes) * self.scenario.seeds
            where = "".join(f"; {hook}" for hook in self.stopped)
            said.append(f"Interrupted: partial results, {len(self.runs)} of {total} runs{where}.")
        if self.host:
            said += self.host.notes
        return [*said, *failure_notes(self.failures), *hook_notes(self.hooks_not_run)]

    def _stacked(self, part: str) -> pl.DataFrame:
        if not self.all_series:
            raise ValueError(NO_SERIES)
        return stacked(self.all_series, part)


@dataclass(frozen=True)
class Finished:
    """A finished run."""

    run: Run
    series: Series | None
    hooks_not_run: tuple[HookNotRun, ...] = ()


def collected(
    scenario: Scenario,
    finished: Sequence[Finished],
    failures: Sequence[Failure],
    interrupted: bool,
    host: Host | None = None,
    left_out: tuple[LeftOut, ...] = (),
    stopped: tuple[str, ...] = (),
) -> Comparison:
    """Returns the comparison made of these runs, in whatever order they ended."""
    order = {scheme: place for place, scheme in enumerate(scenario.schemes)}
    ordered = sorted(finished, key=lambda each: (order[each.run["scheme"]], each.run["seed"]))
    return Comparison(
        scenario=scenario,
        runs=[each.run for each in ordered],
        all_series={(each.run["scheme"], each.run["seed"]): each.series for each in ordered if each.series},
        interrupted=interrupted,
        failures=sorted(failures, key=lambda failure: (order[failure.scheme], failure.seed)),
        host=host,
        left_out=left_out,
        hooks_not_run=_in_no_run(ordered),
        stopped=stopped,
    )


def _in_no_run(finished: Sequence[Finished]) -> tuple[HookNotRun, ...]:
    """Returns the hooks that ran in none of their scheme's runs."""
    by_scheme: dict[str, list[Finished]] = {}
    for each in finished:
        by_scheme.setdefault(each.run["scheme"], []).append(each)
    first = ((own[0].hooks_not_run, own) for own in by_scheme.values())
    never = (hook for hooks, own in first for hook in hooks if all(hook in run.hooks_not_run for run in own))
    return tuple(dict.fromkeys(never))
