"""One comparison in the simulator and on the kernel, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypedDict

import polars as pl

from airtcp._engine import version
from airtcp.facts.agreement import Agreement, agreement
from airtcp.facts.arrival import nothing_arrived
from airtcp.facts.failure import Failure
from airtcp.facts.stats import Estimate
from airtcp.facts.summary import SchemeSummary
from airtcp.linux.forms import left_out_notes
from airtcp.results.comparison import Comparison
from airtcp.results.document import Results, schema_of, to_json
from airtcp.results.frames import ratio_frame, write_frames
from airtcp.results.shown import USUAL_FORMATS, Format, Shown


class BothResults(TypedDict):
    """The contents of `results.json` for both. Times are in seconds, rates in bit/s, unless a name says
    otherwise."""

    format: Literal[1]
    airtcp: str
    command: str | None
    interrupted: bool
    agreement: Agreement | None
    sim: Results
    linux: Results


@dataclass(frozen=True)
class PairRow:
    """A scheme on both, or on one of them."""

    scheme: str
    sim: SchemeSummary | None
    linux: SchemeSummary | None
    ratio: Estimate | None


def both_schema() -> dict[str, Any]:
    return schema_of(BothResults)


@dataclass(frozen=True, repr=False)
class SideBySide(Shown):
    """The same schemes and seeds in the simulator and on this host's kernel.

    In a notebook it displays its table, verdict and figure; in a terminal, table and verdict.
    """

    sim: Comparison
    linux: Comparison

    @cached_property
    def agreement(self) -> Agreement | None:
        """Ratios, and whether the rankings agree; None if no scheme ran on both."""
        return agreement(self.sim.runs, self.linux.runs)

    @cached_property
    def rows(self) -> list[PairRow]:
        """The table's rows: each scheme that ran on either, in the order of the scenario."""
        sim = {summary.scheme: summary for summary in self.sim.summaries}
        linux = {summary.scheme: summary for summary in self.linux.summaries}
        ratios = {pair.scheme: pair.ratio for pair in self.agreement.pairs} if self.agreement else {}
        return [
            PairRow(scheme, sim.get(scheme), linux.get(scheme), ratios.get(scheme))
            for scheme in dict.fromkeys([*sim, *linux])
        ]

    @property
    def ratio(self) -> pl.DataFrame:
        """One row per scheme that ran on both: kernel to simulator, with the bounds of 95 % intervals.

        `ratio` is that of the objective, goodput or mean completion time; the columns after it are the
        objective on each.
        """
        return ratio_frame(self.agreement.pairs if self.agreement else ())

    @property
    def has_run(self) -> bool:
        """Whether any run has ended, successfully or not."""
        return self.sim.has_run or self.linux.has_run

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped before the end."""
        return self.sim.interrupted or self.linux.interrupted

    @property
    def nothing_arrived(self) -> bool:
        """Whether no measured flow received anything in any run on either."""
        return nothing_arrived([*self.sim.runs, *self.linux.runs]) is not None

    @property
    def failures(self) -> list[Failure]:
        """Runs on either that left only an error."""
        return [*self.sim.failures, *self.linux.failures]

    @property
    def headline(self) -> str:
        """Name and description, the number of runs, and where they ran."""
        return f"{self.linux.headline} and in the simulator"

    @property
    def notes(self) -> list[str]:
        """Text below the table: the verdict, and what is missing."""
        said = [self.agreement.text] if self.agreement else []
        said += [f"{where}: {found.verdict.text}" for where, found in self._places if found.verdict]
        return [*said, *self.sim.placement, *self.remarks]

    @property
    def remarks(self) -> list[str]:
        """What cannot run on Linux, where it was interrupted, what failed, and how the host differs."""
        said = [f"{where}: {remark}" for where, found in self._places for remark in found.remarks]
        return [*left_out_notes(self.linux.left_out), *said]

    def results(self, command: str | None = None) -> BothResults:
        """The content of `results.json`; `command` reproduces the comparison."""
        return {
            "format": 1,
            "airtcp": version(),
            "command": command,
            "interrupted": self.interrupted,
            "agreement": self.agreement,
            "sim": self.sim.results(),
            "linux": self.linux.results(),
        }

    def save(
        self,
        directory: str | PathLike[str],
        command: str | None = None,
        *,
        formats: Sequence[Format] = USUAL_FORMATS,
    ) -> list[Path]:
        """Writes `results.json`, `ratio.parquet`, the figure of the pairs, and a folder for either's files.

        Returns the paths. Raises OSError.
        """
        return [*self.save_data(directory, command), *self.save_figures(directory, formats)]

    def save_data(self, directory: str | PathLike[str], command: str | None = None) -> list[Path]:
        """As `save`, without figures."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        document = folder / "results.json"
        document.write_text(to_json(self.results(command)), encoding="utf-8")
        own = [path for name, found in self._parts for path in found.save_data(folder / name)]
        return [document, *write_frames({"ratio": self.ratio}, folder), *own]

    def save_figures(
        self, directory: str | PathLike[str], formats: Sequence[Format] = USUAL_FORMATS
    ) -> list[Path]:
        """Like `save`, but only the figures, in these formats."""
        folder = Path(directory)
        own = [path for name, found in self._parts for path in found.save_figures(folder / name, formats)]
        return [*super().save_figures(folder, formats), *own]

    @property
    def _places(self) -> list[tuple[str, Comparison]]:
        return [("In the simulator", self.sim), ("On Linux", self.linux)]

    @property
    def _parts(self) -> list[tuple[str, Comparison]]:
        return [("sim", self.sim), ("linux", self.linux)]
