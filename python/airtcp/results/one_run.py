"""The results of one scheme with one seed, in detail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import polars as pl

from airtcp._engine import Scenario
from airtcp.facts.assumption import Assumption
from airtcp.facts.finishing import unfinished_notes
from airtcp.facts.hooks import HookNotRun, hook_notes
from airtcp.facts.placement import placement_notes
from airtcp.facts.records import Run
from airtcp.facts.scenario import document
from airtcp.facts.series import NO_SERIES, Series
from airtcp.linux.host import Host
from airtcp.results.document import to_json
from airtcp.results.frames import circuits_frame, flows_frame, links_frame, write_frames
from airtcp.results.shown import USUAL_FORMATS, Format, Shown


@dataclass(frozen=True, repr=False)
class RunResult(Shown):
    """The results of one run, including what only a simulator or emulator knows.

    In a notebook it displays its flows, links and window; in a terminal, without the figure.
    """

    scenario: Scenario
    run: Run
    """The run as the engine recorded it: `airtcp.records.Run`."""
    time_series: Series | None
    """Its time series; None if it recorded none."""
    fitted: tuple[Assumption, ...] | None = None
    """Assumptions, if the scenario was fitted to measurements; None if unknown."""
    host: Host | None = None
    """The machine on whose kernel it ran; None if it ran in the simulator."""
    hooks_not_run: tuple[HookNotRun, ...] = ()
    """Required hooks of congestion controls in Python that have not run."""

    @property
    def scheme(self) -> str:
        return self.run["scheme"]

    @property
    def seed(self) -> int:
        return self.run["seed"]

    @property
    def goodput_bps(self) -> float:
        """Goodput of all measured flows together."""
        return self.run["goodput_bps"]

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow, with the columns of `airtcp.records.Flow`."""
        return flows_frame([self.run])

    @property
    def links(self) -> pl.DataFrame:
        """One row per link and direction, with the columns of `airtcp.records.Link`."""
        return links_frame([self.run])

    @property
    def circuits(self) -> pl.DataFrame:
        """One row per TCP circuit, with the columns of `airtcp.records.Circuit`."""
        return circuits_frame([self.run])

    @property
    def series(self) -> pl.DataFrame:
        """One row per sample and measured flow: `time_s`, `cwnd_bytes`, `srtt_s`, `una_bytes`, ….

        Raises ValueError if it was run with `series=False`.
        """
        return self._series.flows

    @property
    def queues(self) -> pl.DataFrame:
        """One row per sample, link and direction. Raises ValueError as `series` does."""
        return self._series.queues

    @property
    def events(self) -> pl.DataFrame:
        """One row per loss, retransmission and timeout, and per interval with duplicate ACKs.

        Raises ValueError as `series` does.
        """
        return self._series.events

    @property
    def deliveries(self) -> pl.DataFrame:
        """One row per sample: data received by each measured flow. Raises ValueError as `series` does."""
        return self._series.deliveries

    @property
    def rtts(self) -> pl.DataFrame:
        """A histogram of each measured flow's RTT samples. Raises ValueError as `series` does."""
        return self._series.rtts

    def save(
        self, directory: str | PathLike[str], *, formats: Sequence[Format] = USUAL_FORMATS
    ) -> list[Path]:
        """Writes what `airtcp run --out` does: `record.json`, series as Parquet, figures in these `formats`.

        Returns the paths. Raises OSError.
        """
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        record = folder / "record.json"
        record.write_text(to_json(self.run), encoding="utf-8")
        if self.time_series is None:
            return [record]
        frames = {"series": self.series, "queues": self.queues, "events": self.events}
        return [record, *write_frames(frames, folder), *self.save_figures(folder, formats)]

    @property
    def notes(self) -> list[str]:
        """What did not finish, on which link the scheme acts, how the host differed, and what did not
        happen."""
        left = unfinished_notes([self.run], document(self.scenario))
        where = placement_notes(self.scenario, [self.scheme])
        return [*left, *where, *(self.host.notes if self.host else []), *hook_notes(self.hooks_not_run)]

    @property
    def _series(self) -> Series:
        if self.time_series is None:
            raise ValueError(NO_SERIES)
        return self.time_series
