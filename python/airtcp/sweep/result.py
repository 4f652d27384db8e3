"""The results of a sweep: frames, figures, files."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypedDict

import polars as pl

from airtcp._engine import Scenario, version
from airtcp.facts.assumption import Assumption
from airtcp.facts.scenario import document, replays
from airtcp.facts.stats import CONFIDENCE
from airtcp.results.document import to_json
from airtcp.results.shown import USUAL_FORMATS, Format, Shown
from airtcp.sweep.plan import Plan
from airtcp.sweep.summary import Standing, Summary, verdict

DATA = "results.parquet"
DOCUMENT = "sweep.json"


class Axis(TypedDict):
    """A key that varies. `unit` is the user's; the data are in seconds, bit/s, bytes or shares."""

    column: str
    keys: list[str]
    values: str
    unit: str | None
    logarithmic: bool


class Document(TypedDict):
    """The contents of sweep.json: what was run, and the schemes' standings."""

    format: Literal[1]
    airtcp: str
    engine: str
    command: str | None
    confidence: float
    objective: Literal["goodput", "completion time"]
    scenario: dict[str, Any]
    vary: list[Axis]
    latin_hypercube: bool
    points: int
    schemes: list[str]
    seeds: list[int]
    runs: int
    failed: int
    verdict: str
    standings: list[Standing]
    fitted: tuple[Assumption, ...] | None


@dataclass(frozen=True, repr=False)
class SweepResult(Shown):
    """The results of a sweep, ordered by point, scheme and seed.

    In a notebook it displays its standings, verdict and figure; in a terminal, standings and verdict.
    """

    scenario: Scenario
    plan: Plan
    frame: pl.DataFrame
    """One row per run: its point and values, scheme, seed and measures; or its `error`."""
    engine: str
    interrupted: bool
    """Whether it was stopped before the end."""
    fitted: tuple[Assumption, ...] | None = None
    """Assumptions, if the scenario was fitted to measurements; None if unknown."""

    @cached_property
    def judged(self) -> Summary:
        """Each point, judged like a comparison."""
        return Summary(self.plan, self.frame)

    @property
    def summary(self) -> pl.DataFrame:
        """One row per point and scheme: mean, the half-width of its interval, and whether it is best."""
        return self.judged.frame

    @property
    def verdict(self) -> str:
        return verdict(self.plan, self.judged, replays=replays(document(self.scenario)))

    @property
    def errors(self) -> list[str]:
        """The errors of failed runs, each text once."""
        return self.frame["error"].drop_nulls().unique(maintain_order=True).to_list()

    def document(self, command: str | None = None) -> Document:
        """Returns the document; `command` repeats the sweep."""
        plan = self.plan
        return {
            "format": 1,
            "airtcp": version(),
            "engine": self.engine,
            "command": command,
            "confidence": CONFIDENCE,
            "objective": self.judged.goal.name,
            "scenario": tomllib.loads(self.scenario.to_toml()),
            "vary": [
                {
                    "column": axis.name,
                    "keys": [*axis.keys, *axis.scheme_keys],
                    "values": axis.spec,
                    "unit": axis.unit.name if axis.unit else None,
                    "logarithmic": axis.logarithmic,
                }
                for axis in plan.axes
            ],
            "latin_hypercube": plan.hypercube,
            "points": len(plan.points),
            "schemes": list(plan.schemes),
            "seeds": list(plan.seeds),
            "runs": self.frame.height,
            "failed": self.frame["error"].count(),
            "verdict": self.verdict,
            "standings": self.judged.standings,
            "fitted": self.fitted,
        }

    def save(
        self,
        directory: str | PathLike[str],
        command: str | None = None,
        *,
        formats: Sequence[Format] = USUAL_FORMATS,
    ) -> list[Path]:
        """Writes what `airtcp sweep` does: `sweep.json`, `results.parquet`, figures in these `formats`.

        Returns the paths. Raises OSError.
        """
        return [*self.save_data(directory, command), *self.save_figures(directory, formats)]

    def save_data(self, directory: str | PathLike[str], command: str | None = None) -> list[Path]:
        """As `save`, without figures; the same bytes however often the sweep was interrupted."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        text = to_json(self.document(command))
        data, document = folder / DATA, folder / DOCUMENT
        write_whole(data, self.frame.write_parquet)
        write_whole(document, lambda path: path.write_text(text, encoding="utf-8"))
        return [document, data]


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a file atomically: it appears only when complete."""
    part = path.with_name(f".{path.name}.part")
    write(part)
    part.replace(path)
