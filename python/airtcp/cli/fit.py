"""`airtcp fit`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from airtcp.cli.console import plain_console, write_json
from airtcp.cli.errors import FAILED, InputError, PathError, check_outputs, writing
from airtcp.cli.given import named_for
from airtcp.cli.options import JsonOption, OnlyOption
from airtcp.facts.files import SCENARIO

if TYPE_CHECKING:
    from rich.console import Console

    from airtcp.fit import Fit, NothingArrives

EXAMPLES = """\b
Examples:
  ping -c 600 example.org | tee ping.log ; airtcp fit ping.log --rate 20Mbit/s
  airtcp fit ping.log iperf3.json --out my-link.toml --figures my-link
  airtcp fit verizon.down verizon.up ping.log
  airtcp fit transfer.pcapng --out - | less
  airtcp fit ping.log --replay
  airtcp fit fping.txt --only 192.0.2.7
  airtcp fit ping.log --json - | jq .unknown
  airtcp compare ping.log
"""


def command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Measurements of one path: ping output, mahimahi traces, bandwidth logs (JSON, CSV), "
            "iperf3 --json, ss -ti, captures (pcap, pcapng), irtt, fping, mtr, SmokePing, Flent, "
            "speed tests, RIPE Atlas, Starlink, logs of `airtcp measure`.",
            show_default=False,
        ),
    ],
    rate: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Link rate in the data direction, e.g. 20Mbit/s."),
    ] = None,
    reverse_rate: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Link rate in the ACK direction.  [default: the same]"),
    ] = None,
    replay: Annotated[
        bool,
        typer.Option("--replay", help="Replay the measured round trips instead of fitting a distribution."),
    ] = False,
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="Format of the files, if it cannot be detected."),
    ] = None,
    only: OnlyOption = None,
    out: Annotated[
        str | None,
        typer.Option(
            callback=named_for("--out", SCENARIO),
            metavar="FILE",
            help="Scenario file to write; `-` is standard output.  [default: NAME.toml in this directory]",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Plot what was measured against the fit, in DIR, as PNG and SVG."),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Fit a scenario to measurements of a real path.

    Writes a commented scenario file: rate; delay with its variation and correlation; delay spikes; loss and
    its bursts. A comment on each value gives its source or, if it could not be measured, says which
    default is assumed.
    """
    if out == "-" and json == "-":
        raise InputError("--out - and --json -: only one of them can write to standard output")
    check_outputs(None, json)
    # Readers are slow to import, as in `fitted_to`.
    from airtcp.fit import NothingArrives  # noqa: PLC0415

    try:
        fitted = fitted_to(
            files, rate=rate, reverse_rate=reverse_rate, replay=replay, format_name=format_, only=only
        )
    except NothingArrives as failure:
        _fail(failure, json)
    place = None if out == "-" else Path(out or f"{fitted.file_name}.toml")
    if place is None:
        if fitted.files:
            raise InputError(
                f"--out -: {', '.join(fitted.files)} needs a scenario file beside it: name a file"
            )
        sys.stdout.write(fitted.toml)
    else:
        _write(fitted, place, force)
    if json is not None:
        # Its imports are slow.
        from airtcp.fit.document import fit_document  # noqa: PLC0415

        write_json(fit_document(fitted), json)
    console = plain_console(stderr=place is None or json == "-")
    say(fitted, console)
    if figures is not None:
        with writing(figures):
            figures.mkdir(parents=True, exist_ok=True)
            drawn = fitted.draw(figures)
        if drawn:
            console.print(f"Figures: {', '.join(str(path) for path in drawn)}")
    if place is not None:
        console.print(f"Scenario: {place}. Next: airtcp compare {place}")


def fitted_to(
    files: list[Path],
    *,
    rate: str | None = None,
    reverse_rate: str | None = None,
    replay: bool = False,
    format_name: str | None = None,
    only: str | None = None,
) -> Fit:
    """Reads files and fits a scenario. Raises InputError, and NothingArrives."""
    # Readers of all formats are slow to import and are needed only here.
    from airtcp.fit import fit  # noqa: PLC0415
    from airtcp.fit.readers import FileError  # noqa: PLC0415

    try:
        with _reading() as on_read:
            return fit(
                files,
                rate=rate,
                reverse_rate=reverse_rate,
                replay=replay,
                format=format_name,
                only=only,
                on_read=on_read,
            )
    except FileError as error:
        raise InputError(str(error)) from error


def fitted_and_said(paths: list[Path], only: str | None = None) -> Fit:
    """Fits measurements given in place of a scenario, and prints the findings and assumptions.

    Raises InputError, and PathError if they show that nothing arrives.
    """
    from airtcp.fit import NothingArrives  # noqa: PLC0415 as in `fitted_to`

    try:
        fitted = fitted_to(paths, only=only)
    except NothingArrives as failure:
        from airtcp.fit.document import failure_document  # noqa: PLC0415 as above

        found = failure_document(failure)
        raise PathError(str(failure), found, is_hole=bool(failure.holes)) from failure
    say(fitted, plain_console(stderr=True))
    return fitted


def say(fitted: Fit, console: Console) -> None:
    """Prints what was found and what is assumed."""
    for line in fitted.summary():
        console.print(line)


def _fail(failure: NothingArrives, json: str | None) -> NoReturn:
    """Says what the files show of a path over which nothing arrives."""
    if json is not None:
        from airtcp.fit.document import failure_document  # noqa: PLC0415 as above

        write_json(failure_document(failure), json)
    console = plain_console(stderr=json == "-")
    for line in failure.lines:
        console.print(line)
    raise typer.Exit(FAILED)


def _write(fitted: Fit, place: Path, force: bool) -> None:
    inputs = {measurement.source.resolve() for measurement in fitted.measurements}
    for written in [place, *(place.parent / name for name in fitted.files)]:
        if written.resolve() in inputs:
            raise InputError(f"--out {place}: {written} is a measurement file; name another file")
        if written.exists() and not force:
            raise InputError(
                f"{written} already exists; use --force to overwrite it, or --out FILE to choose another"
            )
    with writing(place):
        fitted.write(place)


@contextmanager
def _reading() -> Iterator[Callable[[Path], None]]:
    """Shows which file is being read, on a terminal."""
    from rich.console import Console  # noqa: PLC0415 as in `plain_console`

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _path: None
        return
    with console.status("reading") as status:
        yield lambda path: status.update(f"reading {path}")
