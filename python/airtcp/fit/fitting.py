"""Fits a scenario to files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from airtcp._engine import Scenario, rate_in_bps
from airtcp.control import CongestionControl
from airtcp.facts.files import SCENARIO
from airtcp.fit import draft as toml
from airtcp.fit.arrival import NothingArrives, failures, has_anything, put_holes, silent
from airtcp.fit.bottleneck import Settled
from airtcp.fit.closure.closing import Check, check, not_closed, settle
from airtcp.fit.closure.unrepeated import why_unrepeated
from airtcp.fit.delay import Delay
from airtcp.fit.draft import Draft
from airtcp.fit.estimates import Estimates, estimate
from airtcp.fit.evidence import Evidence, From, gather, oriented, shown, too_few, two_paths, use_of
from airtcp.fit.findings import Finding, Unknown
from airtcp.fit.holes import Hole, find_holes, outside
from airtcp.fit.kinds import Verdict
from airtcp.fit.left_open import LeftOpen
from airtcp.fit.loss import Loss
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.path_delay import put_delay
from airtcp.fit.path_kind import put_kind
from airtcp.fit.path_loss import put_loss, put_overtaking
from airtcp.fit.path_queue import put_queue
from airtcp.fit.rate import Given, put_rate
from airtcp.fit.readings import put_readings
from airtcp.running.scratch import scratch_folder

if TYPE_CHECKING:
    from airtcp.fit.readers import FileError

LEFT_OPEN = (
    "What the measurement leaves open. Runs do not look at it; `airtcp advise` gives its answer for each "
    "reading, and the gain that the loss allows. What you know better, say above, and take it out here."
)
SCHEMES = ("cubic", "reno", "vegas", "westwood", "veno", "hybla", "bbr")
"""CUBIC first: most systems use it, and the others are compared with it."""


@dataclass(frozen=True)
class Fit:
    """A scenario fitted to measurements, and its evidence."""

    measurements: tuple[Measurement, ...]
    name: str
    found: tuple[Finding, ...]
    """What the measurements show, each with its interval and method."""
    unknown: tuple[Unknown, ...]
    """What they do not show, and the default assumed."""
    notes: tuple[str, ...]
    """Contradictions among the files, omissions, and other remarks for the reader."""
    files: dict[str, str]
    """Generated files that the scenario names, written with it: name and contents."""
    rate_bps: float
    """Forward rate; the mean of a trace or a log."""
    delay: Delay | None
    """Numbers from the round trips."""
    loss: Loss | None
    """Numbers from the packets' fates."""
    check: Check | None
    """The measured transfer again on the fitted path; None if no file has one that could be repeated."""
    _evidence: Evidence = field(repr=False)
    _estimates: Estimates = field(repr=False)
    _settled: From[Settled] | None = field(repr=False)
    _given: Given = field(repr=False)
    _replay: bool = field(repr=False)

    @property
    def file_name(self) -> str:
        """The scenario's name as a file name without suffix."""
        return _file_name(self.name)

    @property
    def holes(self) -> tuple[Hole, ...]:
        """Path-MTU black holes, if any; the scenario describes packets that pass."""
        return self._evidence.holes

    @property
    def kinds(self) -> tuple[Verdict, ...]:
        """Whether the round trips show Wi-Fi, LTE or Starlink, and how surely; empty if there are too few."""
        return self._estimates.air.verdicts if self._estimates.air is not None else ()

    @property
    def toml(self) -> str:
        """The scenario with its comments. Paths of its files are relative to the current directory."""
        return self.toml_in(Path())

    def toml_in(self, folder: Path | str) -> str:
        """Returns the scenario for a file in `folder`; paths of its files are relative to that."""
        return _document(
            self,
            _drafted(
                self._evidence,
                self._estimates,
                self._settled,
                self._given,
                self._replay,
                self.name,
                Path(folder),
            ),
        )

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario, ready to run."""
        return self.load()

    def load(
        self,
        overrides: Sequence[tuple[str, str]] = (),
        controllers: Sequence[type[CongestionControl]] = (),
    ) -> Scenario:
        """Returns the scenario with some of its keys changed, as `Scenario.load` does.

        # Raises
        ScenarioError: for an invalid key or value.
        """
        if not self.files:
            return Scenario.parse(self.toml, list(overrides), controllers=controllers)
        with scratch_folder() as folder:
            path = self.write(folder / "fit.toml")
            return Scenario.load(path, list(overrides), controllers=controllers)

    def write(self, path: Path | str) -> Path:
        """Writes the scenario and the files that it needs beside it; returns its path.

        # Raises
        OSError: it cannot be written.
        ValueError: its name promises another file.
        """
        path = Path(path)
        SCENARIO.check(path)
        for name, content in self.files.items():
            (path.parent / name).write_text(content, encoding="utf-8")
        path.write_text(self.toml_in(path.parent), encoding="utf-8")
        return path

    def draw(self, directory: Path | str) -> list[Path]:
        """Draws measured against fitted, as PNG and SVG; returns the paths."""
        from airtcp.fit.figures import draw  # noqa: PLC0415 Matplotlib is slow to import

        return draw(self, self._evidence, Path(directory))

    @property
    def repetition(self) -> str:
        """Whether the measured transfer does on the fitted path what it did, or why none was repeated."""
        return self.check.text if self.check is not None else why_unrepeated(self.measurements)

    def summary(self) -> list[str]:
        """Returns what was found and what is assumed, a line each."""
        used, _ = use_of(self._evidence, self.measurements)
        names = ", ".join(shown(f"{m.source.name} ({m.format})") for m in used)
        found = "; ".join(f"{finding.quantity} {finding.shown}" for finding in self.found)
        warning = too_few(self._evidence)
        lines = [line for hole in self.holes for line in hole.lines]
        lines += [*warning, f"Fitted to {names}: {found or 'nothing of use'}."]
        air = self._estimates.air
        lines += [f"Kind of air: {air.text}"] if air is not None else []
        lines.append(self.repetition)
        if self.unknown:
            lines.append("Assumed: " + "; ".join(_short(unknown) for unknown in self.unknown) + ".")
        return lines + list(self.notes[len(warning) :])

    def __repr__(self) -> str:
        return "\n".join(self.summary())


def fit(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    rate: str | float | None = None,
    reverse_rate: str | float | None = None,
    format: str | None = None,  # noqa: A002 the option's name
    only: str | None = None,
    replay: bool = False,
    name: str | None = None,
    on_read: Callable[[Path], None] | None = None,
) -> Fit:
    """Fits a scenario to one file of measurements, or to several of the same path.

    `rate` and `reverse_rate` give the link's rates, in bit/s or as "20Mbit/s"; `format` names the files'
    format if their contents are ambiguous; `only` names the path to fit if a file measures several, such as a
    host; `replay` replays the measured round trips as the link's delay
    instead of fitting a distribution; `on_read` is called with each file before it is read.

    # Raises
    FileError: a file cannot be read, or contains nothing that can be fitted. NothingArrives: the files show
    that the path fails.
    """
    from airtcp.fit.detect import contents  # noqa: PLC0415 all formats are imported
    from airtcp.fit.subjects import chosen  # noqa: PLC0415 all formats are imported

    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found = []
    for path in map(Path, several):
        if on_read:
            on_read(path)
        found.append(contents(path, format))
    if only is not None and not any(isinstance(each, Subjects) for each in found):
        raise _file_error(f"--only {shown(only)}: no file is of several paths; leave it out")
    measurements = [chosen(each, only) for each in found]
    given = Given(_bps(rate), _bps(reverse_rate))
    return fit_measurements(measurements, given=given, replay=replay, name=name)


def fit_measurements(
    measurements: Sequence[Measurement],
    *,
    given: Given | None = None,
    replay: bool = False,
    name: str | None = None,
) -> Fit:
    """Fits a scenario to parsed measurements.

    # Raises
    FileError: they contain nothing that can be fitted, or are of two paths. NothingArrives: they show that
    the path fails.
    """
    if not measurements:
        raise _file_error("name at least one measurement file")
    read = oriented(measurements)
    holes = find_holes(read)
    measurements = [outside(holes, each) for each in read]
    silence = list(silent(read, holes))
    two = two_paths(measurements)
    if two is not None:
        raise _file_error(two)
    evidence = gather(measurements)
    evidence.holes = holes
    if not has_anything(evidence):
        if holes or silence:
            raise NothingArrives(read, holes, [*failures(evidence), *silence, *_notes(read)])
        names = ", ".join(shown(str(m.source)) for m in measurements)
        raise _file_error(f"{names}: contains no round trips, loss or rate that could be fitted")
    if replay and evidence.idle is None:
        raise _file_error("--replay needs round trips of an idle path: give a ping log")
    title = name or _title(measurements)
    given = given or Given()
    estimates = estimate(evidence)
    settled = settle(evidence, estimates, given.rate_bps)
    drafted = _drafted(evidence, estimates, settled, given, replay, title, Path())
    used, unused = use_of(evidence, measurements)
    fitted = Fit(
        tuple(measurements),
        title,
        tuple(drafted.found),
        tuple(drafted.unknown),
        (*too_few(evidence), *silence, *unused, *evidence.contradictions, *drafted.notes, *_notes(used)),
        drafted.files,
        drafted.rate_bps,
        drafted.delay,
        drafted.loss,
        None,
        evidence,
        estimates,
        settled,
        given,
        replay,
    )
    return _checked(fitted)


def _checked(fitted: Fit) -> Fit:
    """Closes the round trip: the measured transfer is simulated on the fitted path."""
    found = check(fitted._evidence, fitted.scenario)
    if found is None:
        return fitted
    if found.holds:
        return replace(fitted, check=found)
    return replace(fitted, check=found, unknown=(*fitted.unknown, not_closed(found)))


def _drafted(
    evidence: Evidence,
    estimates: Estimates,
    settled: From[Settled] | None,
    given: Given,
    replay: bool,
    name: str,
    folder: Path,
) -> Draft:
    drafted = Draft(settled=settled)
    put_holes(drafted, evidence.holes)
    file_name = _file_name(name)
    put_rate(drafted, evidence, estimates, given, folder, file_name)
    put_delay(drafted, evidence, estimates, replay=replay, name=file_name)
    put_queue(drafted, evidence, estimates.losses)
    put_loss(drafted, evidence, estimates)
    put_readings(drafted, estimates.losses)
    put_overtaking(drafted, evidence)
    put_kind(drafted, estimates)
    return drafted


def _document(fitted: Fit, drafted: Draft) -> str:
    sources = [f"- {m.source.name}: {m.format}" for m in fitted.measurements]
    head = ["Fitted by `airtcp fit` from these files; intervals are 95 %.", *sources]
    head += [*(hole.text for hole in fitted.holes), *fitted.notes]
    head += [fitted.check.text] if fitted.check is not None else []
    # Findings that no key of the scenario expresses.
    seen = [f"- {finding.text}" for finding in drafted.found if not drafted.carries(finding)]
    used, _ = use_of(fitted._evidence, fitted.measurements)
    description = "Fitted to " + ", ".join(shown(m.source.name) for m in used) + "."
    keys = (
        f"name = {toml.text(shown(fitted.name))}\n"
        f"description = {toml.text(description)}\n"
        f'duration = "{drafted.run_s:.0f}s"\n'
        "seeds = 5\n"
        f"schemes = [{', '.join(toml.text(scheme) for scheme in SCHEMES)}]\n"
    )
    blocks = [toml.comment(head)]
    if seen:
        blocks.append(toml.comment(["Other observations:", *seen]))
    blocks.append(keys)
    blocks += [toml.link(f"reordering{i or ''}", entries) for i, entries in enumerate(drafted.extra_links)]
    blocks.append(toml.link(toml.LINK, drafted.forward, drafted.reverse))
    open_ = LeftOpen(drafted.loss_between, fitted.unknown)
    blocks.append(toml.comment([LEFT_OPEN]) + open_.toml)
    return "\n".join(blocks)


def _title(measurements: Sequence[Measurement]) -> str:
    first = shown(measurements[0].source.stem) or "fit"
    return (
        first
        if len({m.source.stem for m in measurements}) == 1
        else f"{first}-and-{len(measurements) - 1}-more"
    )


def _file_name(name: str) -> str:
    kept = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    return kept.strip("-.") or "fit"


def _notes(measurements: Sequence[Measurement]) -> list[str]:
    notes = [note for measurement in measurements for note in measurement.notes]
    return notes + [
        f"{shown(m.source.name)}: {m.skipped.count} skipped; the first: {shown(m.skipped.first)}."
        for m in measurements
        if m.skipped is not None and m.skipped.count
    ]


def _short(unknown: Unknown) -> str:
    return f"{unknown.quantity}: {unknown.stand_in[:1].lower()}{unknown.stand_in[1:].rstrip('.')}"


def _bps(value: str | float | None) -> float | None:
    if value is None:
        return None
    try:
        bps = float(rate_in_bps(value)) if isinstance(value, str) else float(value)
    except ValueError as error:
        raise _file_error(f"rate {value}: {error}") from error
    if not bps > 0:
        raise _file_error(f"rate {value}: must be above zero")
    return bps


def _file_error(message: str) -> FileError:
    from airtcp.fit.readers import FileError  # noqa: PLC0415 all formats are imported

    return FileError(message)
