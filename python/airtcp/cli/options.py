"""Options that several commands share, and the scenario that results from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from airtcp._engine import Scenario, ScenarioError, time_in_seconds
from airtcp.asking.given import is_measurement
from airtcp.cli.controllers import controllers
from airtcp.cli.errors import InputError, hinted, reason
from airtcp.cli.given import named_for
from airtcp.control import CongestionControl
from airtcp.facts.files import REPORT, RESULTS
from airtcp.facts.scenario import document

if TYPE_CHECKING:
    from airtcp.results.shown import Format

W = TypeVar("W", bound=str)

ScenarioArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="SCENARIO...",
        help="A scenario file (TOML), or measurements of one path: a ping log, a capture, … (see `airtcp "
        "fit`).  [default: a built-in lossy link]",
        show_default=False,
    ),
]
OnlyOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The host, column or flow to fit, of a file that has several; part of its name is enough.",
        show_default=False,
    ),
]
SchemesOption = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,…", help="Schemes to compare; the first is the baseline. See `airtcp schemes`."
    ),
]
SeedsOption = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Runs per scheme, each with its own seed.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a scenario key, e.g. link.wireless.loss.packet=0.02. Repeatable.",
    ),
]
DurationOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="Duration of each run, e.g. 30s: simulated time, or real time on Linux."
    ),
]
ProfileOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Profile of the TCP stack: see `airtcp profiles`.")
]

IntervalOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Sampling interval of the time series, e.g. 10ms; 0 samples at every ACK.  [default: "
        "duration/1500]",
    ),
]
PdfOption = Annotated[bool, typer.Option("--pdf", help="Also write the figures as PDF, with embedded fonts.")]


def interval_s(given: str | None) -> float | None:
    """Parses an interval. Raises InputError for what is not a time."""
    if given is None:
        return None
    try:
        return time_in_seconds(given)
    except ValueError as error:
        raise InputError(f"--interval {given}: {error}") from error


def choices(option: str, given: str, known: Iterable[W]) -> list[W]:
    """Parses words with commas between them. Raises InputError for one that is not `known`."""
    found: dict[str, W] = {word: word for word in known}
    wanted = dict.fromkeys(word for text in given.split(",") if (word := text.strip()))
    for word in wanted:
        if word not in found:
            raise InputError(f"{option} {word}: expected one or more of {', '.join(found)}")
    return [found[word] for word in wanted]


def formats(pdf: bool) -> tuple[Format, ...]:
    """Returns the formats of figures."""
    return ("png", "svg", "pdf") if pdf else ("png", "svg")


ReportOption = Annotated[
    Path | None,
    typer.Option(
        callback=named_for("--report", REPORT),
        metavar="FILE.html",
        help="Write a report: one HTML page with interactive figures that opens offline.",
        show_default=False,
    ),
]
JsonOption = Annotated[
    str | None,
    typer.Option(
        callback=named_for("--json", RESULTS),
        metavar="FILE",
        help="Also write the results to FILE; `-` is standard output.",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Directory for results and figures.  [default: airtcp-out/NAME]"),
]
JobsOption = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Number of concurrent runs.  [default: one per core]")
]


@dataclass(frozen=True)
class Request:
    """The requested scenario, and the arguments that request it again."""

    scenario: Scenario
    arguments: list[str]
    controllers: Sequence[type[CongestionControl]] = ()
    """The user's own controllers, which its schemes may name."""
    written: Scenario | None = None
    """A fitted scenario before the arguments changed it."""


def load(
    given: Path | Sequence[Path] | None,
    changes: list[str] | None,
    controller: Sequence[str] | None = None,
    only: str | None = None,
    **named: str | None,
) -> Request:
    """Reads the scenario or measurements and applies `--set`, then the options that stand for keys.

    `only` names a path if a measurement has several.
    """
    paths = [given] if isinstance(given, Path) else list(given or [])
    overrides = [_split(change) for change in changes or []]
    arguments = [str(path) for path in paths]
    for change in changes or []:
        arguments += ["--set", change]
    if only is not None:
        arguments += ["--only", only]
    for option in controller or []:
        arguments += ["--controller", option]
    as_asked: dict[str, str] = {}
    for key, value in named.items():
        if value is not None:
            overrides.append((key, _as_toml_list(value) if key == "schemes" else value))
            arguments += [f"--{key}", value]
            as_asked["--set {}={}".format(*overrides[-1])] = f"--{key} {value}"
    try:
        own = controllers(controller or [])
        if _are_measurements(paths):
            # Readers and estimators are slow to import and are needed only here.
            from airtcp.cli.fit import fitted_and_said  # noqa: PLC0415

            fitted = fitted_and_said(paths, only)
            return Request(fitted.load(overrides, own), arguments, own, fitted.scenario)
        if only is not None:
            raise InputError(f"--only {only} chooses a path of a measurement; a scenario has one")
        path = paths[0] if paths else None
        scenario = _read(path, overrides, own)
        written = _read(path, [], own) if "measurement" in document(scenario) else None
        return Request(scenario, arguments, own, written)
    except ScenarioError as error:
        raise InputError(_told(str(error), as_asked)) from error


def _are_measurements(paths: Sequence[Path]) -> bool:
    """Returns whether the files are measurements. Raises InputError for several files that include a
    scenario."""
    scenarios = [path for path in paths if not is_measurement(path)]
    if len(paths) > 1 and scenarios:
        raise InputError(
            f"{scenarios[0]} is not a measurement: name one scenario, or measurements of one path"
        )
    return bool(paths) and not scenarios


def _read(
    path: Path | None, overrides: list[tuple[str, str]], own: list[type[CongestionControl]]
) -> Scenario:
    if path is None:
        return Scenario.built_in(overrides, controllers=own)
    if path.is_dir():
        raise InputError(f"{path} is a directory; name a file in it")
    try:
        return Scenario.load(str(path), overrides, controllers=own)
    except OSError as error:
        raise InputError(f"cannot read {path}: {reason(error)}") from error


def _as_toml_list(names: str) -> str:
    return json.dumps([name.strip() for name in names.split(",") if name.strip()], ensure_ascii=False)


def _told(text: str, words: dict[str, str]) -> str:
    """Rewrites an error in the terms of the command line."""
    for word, other in words.items():
        text = text.replace(word, other)
    return hinted(text)


def _split(change: str) -> tuple[str, str]:
    key, equals, value = change.partition("=")
    if not (equals and key.strip()):
        raise InputError(f"--set {change}: write KEY=VALUE, e.g. link.wireless.delay=40ms")
    return key.strip(), value.strip()


def default_directory(scenario: Scenario) -> Path:
    """Returns a directory below the current one, named after the scenario."""
    name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in scenario.name)
    return Path("airtcp-out") / (name.strip("-.") or "scenario")
