"""One scheme, one seed, in detail."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from airtcp._engine import Scenario
from airtcp.assumption import Assumption
from airtcp.control import CongestionControl
from airtcp.failure import Failure
from airtcp.frames import circuits_frame, flows_frame, links_frame, write_frames
from airtcp.jobs import interruptible
from airtcp.lines import run_lines
from airtcp.linux.airtcpd import LinuxError, find
from airtcp.linux.forms import forms
from airtcp.linux.host import Host, host_of
from airtcp.linux.runs import Job, run_all
from airtcp.records import Run
from airtcp.results import to_json
from airtcp.scenarios import ScenarioLike, scenario_of
from airtcp.series import NO_SERIES, SERIES_POINTS, Series, series_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class RunResult:
    """What one run has left, with the truth that only a simulator knows, or an emulator.

    In a notebook it shows what became of its flows and links, and its window, by itself; in a terminal
    without the figure.
    """

    scenario: Scenario
    run: Run
    """The run as the engine tells it: `airtcp.records.Run`."""
    time_series: Series | None
    """None if it was to leave none."""
    fitted: tuple[Assumption, ...] | None = None
    """What was assumed where the scenario was fitted to measurements; None where nobody said so."""
    host: Host | None = None
    """The machine on whose kernel it ran; None: it ran in the simulator."""

    @property
    def scheme(self) -> str:
        return self.run["scheme"]

    @property
    def seed(self) -> int:
        return self.run["seed"]

    @property
    def goodput_bps(self) -> float:
        """Of all measured flows together."""
        return self.run["goodput_bps"]

    @property
    def flows(self) -> pl.DataFrame:
        """A row for each flow, with the columns of `airtcp.records.Flow`."""
        return flows_frame([self.run])

    @property
    def links(self) -> pl.DataFrame:
        """A row for each direction of each link, with the columns of `airtcp.records.Link`."""
        return links_frame([self.run])

    @property
    def circuits(self) -> pl.DataFrame:
        """A row for each TCP circuit, with the columns of `airtcp.records.Circuit`."""
        return circuits_frame([self.run])

    @property
    def series(self) -> pl.DataFrame:
        """A row for each sample of each measured flow: `time_s`, `cwnd_bytes`, `srtt_s`, `una_bytes`, ….

        Raises ValueError if it was run with `series=False`.
        """
        return self._series.flows

    @property
    def queues(self) -> pl.DataFrame:
        """A row for each sample of each direction of each link. Raises ValueError as `series` does."""
        return self._series.queues

    @property
    def events(self) -> pl.DataFrame:
        """A row for each loss, retransmission and timeout, and for the duplicate ACKs of each interval.

        Raises ValueError as `series` does.
        """
        return self._series.events

    @property
    def deliveries(self) -> pl.DataFrame:
        """A row for each sample: what each measured flow has received. Raises ValueError as `series` does."""
        return self._series.deliveries

    @property
    def rtts(self) -> pl.DataFrame:
        """How often each measured flow has measured which RTT. Raises ValueError as `series` does."""
        return self._series.rtts

    def plot(self, name: str = "cwnd") -> Figure:
        """The figure called `name`: cwnd, queue, sequence.

        Raises ValueError, which lists the figures that there are, or says that there are no time series.
        """
        from airtcp.figures import draw, of_series  # noqa: PLC0415 Matplotlib takes long to import

        return draw(of_series({self.scheme: self._series}), name)

    def save(self, directory: str | PathLike[str]) -> list[Path]:
        """Writes what `airtcp run --out` does: `record.json`, time series as Parquet, figures as PNG and SVG.

        Answers the paths. Raises OSError.
        """
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        record = folder / "record.json"
        record.write_text(to_json(self.run), encoding="utf-8")
        if self.time_series is None:
            return [record]
        from airtcp.figures import of_series, save_all  # noqa: PLC0415 as in `plot`

        frames = {"series": self.series, "queues": self.queues, "events": self.events}
        return [
            record,
            *write_frames(frames, folder),
            *save_all(of_series({self.scheme: self._series}), folder),
        ]

    def report(self, path: str | PathLike[str], command: str | None = None) -> Path:
        """Writes one page with interactive figures that opens offline; `command` is the one that repeats it.

        Raises OSError.
        """
        from airtcp.report.one_run import run_page  # noqa: PLC0415 only who wants a page pays for it

        return run_page(self, command).write(Path(path))

    def __repr__(self) -> str:
        return "\n".join([*run_lines(self.run), *(self.host.notes if self.host else [])])

    def _repr_html_(self) -> str:
        from airtcp.notebook import run_html  # noqa: PLC0415 as in `plot`

        return run_html(self)

    @property
    def _series(self) -> Series:
        if self.time_series is None:
            raise ValueError(NO_SERIES)
        return self.time_series


def run(
    scenario: ScenarioLike | None = None,
    scheme: str | type[CongestionControl] | None = None,
    seed: int | None = None,
    *,
    on: Literal["sim", "linux"] = "sim",
    duration: str | None = None,
    series: bool = True,
    interval_s: float | None = None,
    pcap: str | PathLike[str] | None = None,
    pcap_link: str | None = None,
) -> RunResult:
    """Runs one scheme once; without one, the scenario's first, and with its first seed.

    The same scenario, scheme and seed give the same result on any machine, but for `on="linux"`: that is on
    this host's kernel, in real time, as of `compare`, and without `pcap`. With `series`, there are time
    series, a sample every `interval_s` seconds: 0 is at every ACK, None a 1500th of the duration. With
    `pcap`, the packets of `pcap_link` (the path's first link, if none is named) go into that file as pcapng.

    Raises ScenarioError for a scenario, scheme or link that is wrong, OSError, ControllerError for an error
    in a congestion control in Python, and LinuxError for a run that the kernel cannot make. On
    KeyboardInterrupt the run is stopped.

    >>> import airtcp
    >>> found = airtcp.run(scheme="reno", duration="2s")
    >>> found.flows.select("flow_name", "timeouts", "losses_corruption").rows()
    [('main', 0, 11)]
    >>> found.series.columns[:4]
    ['time_s', 'flow', 'cwnd_bytes', 'ssthresh_bytes']
    """
    found = scenario_of(scenario, duration=duration)
    spacing = found.duration_s / SERIES_POINTS if interval_s is None else interval_s
    if on == "linux":
        if pcap is not None:
            raise ValueError("kernel runs cannot be captured; `airtcpd link` writes captures")
        return _on_linux(found, scheme, seed, spacing if series else None)
    record = interruptible(
        lambda cancel: found.run(
            found.schemes[0] if scheme is None else scheme,
            found.seed if seed is None else seed,
            series_interval_s=spacing if series else None,
            pcap=None if pcap is None else fspath(pcap),
            pcap_link=pcap_link,
            cancel=cancel,
        )
    )
    content: Run = json.loads(record.to_json())
    return RunResult(found, content, series_of(record, content) if series else None)


def _on_linux(
    scenario: Scenario,
    scheme: str | type[CongestionControl] | None,
    seed: int | None,
    series_interval_s: float | None,
) -> RunResult:
    alone = scenario.vary(schemes=[scenario.schemes[0] if scheme is None else scheme], seeds=1)
    airtcpd = find()
    (name,) = forms(airtcpd, alone).schemes
    job = Job(alone, name, scenario.seed if seed is None else seed, series_interval_s)
    (outcome,) = run_all([job], airtcpd=airtcpd)
    if isinstance(outcome, Failure):
        raise LinuxError(outcome.text)
    host = host_of(airtcpd.version, [outcome.host])
    return RunResult(scenario, outcome.run, outcome.series, host=host)
