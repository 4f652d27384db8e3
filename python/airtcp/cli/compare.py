"""`airtcp compare`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from airtcp._engine import Scenario
from airtcp.cli.console import plain_console, progress_bar, write_json
from airtcp.cli.errors import INTERRUPTED, writing
from airtcp.cli.options import (
    DurationOption,
    ProfileOption,
    ScenarioArgument,
    SchemesOption,
    SeedsOption,
    SetOption,
    default_directory,
    load,
)
from airtcp.compare import compare, plan
from airtcp.comparison import Comparison
from airtcp.output import write_frames
from airtcp.records import Run
from airtcp.results import results, to_json
from airtcp.summary import SchemeSummary, summarise_all
from airtcp.table import print_table
from airtcp.verdict import Verdict, verdict

EXAMPLES = """\b
Examples:
  airtcp compare
  airtcp compare my-link.toml --seeds 10
  airtcp compare --set link.wireless.loss.packet=0.03 --schemes reno,cubic,bbr
  airtcp compare --duration 20s --json - > results.json
"""


def command(
    scenario: ScenarioArgument = None,
    schemes: SchemesOption = None,
    changes: SetOption = None,
    seeds: SeedsOption = None,
    duration: DurationOption = None,
    profile: ProfileOption = None,
    json: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the results there too; `-` is standard output."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where results and figures go.  [default: airtcp-out/NAME]"),
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Runs at a time.  [default: one a core]")] = None,
) -> None:
    """Run schemes × seeds on a link and say which carries most, by how much, and how sure that is.

    Prints a table and a verdict; writes results.json, Parquet files and figures (PNG and SVG).
    """
    count = None if seeds is None else str(seeds)
    request = load(scenario, changes, schemes=schemes, seeds=count, duration=duration, profile=profile)
    directory = out or default_directory(request.scenario)
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
    console = plain_console(stderr=json == "-")
    console.print(headline(request.scenario))
    with _progress(request.scenario) as on_done:
        found = compare(request.scenario, jobs=jobs, on_done=on_done)
    if found.interrupted:
        total = len(plan(request.scenario))
        console.print(f"Interrupted: partial results, {len(found.runs)} of {total} runs.")
    if found.runs:
        report = _Report(found, shlex.join(["airtcp", "compare", *request.arguments]))
        report.write_data(directory, json)
        report.show(console)
        report.draw(directory)
        console.print(f"Figures and data: {directory}/")
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)


class _Report:
    """What is said of a comparison, in words and in files."""

    def __init__(self, found: Comparison, command: str) -> None:
        self.found = found
        self.summaries: list[SchemeSummary] = summarise_all(found.runs)
        self.judged: Verdict | None = verdict(found.runs)
        self.document = to_json(results(found, self.summaries, self.judged, command))

    @property
    def best(self) -> Sequence[str]:
        return [self.judged.best, *self.judged.tied] if self.judged else []

    def show(self, console: Console) -> None:
        print_table(console, self.summaries, self.best)
        if self.judged:
            console.print(self.judged.text)

    def write_data(self, directory: Path, json: str | None) -> None:
        with writing(directory):
            (directory / "results.json").write_text(self.document, encoding="utf-8")
            write_frames(self.found, directory)
        write_json(self.document, json)

    def draw(self, directory: Path) -> None:
        # Matplotlib takes half of the start-up time of all commands, and only the end of this one needs it.
        from airtcp.figures import draw_all  # noqa: PLC0415

        with writing(directory):
            draw_all(self.found, self.summaries, self.best, directory)


def headline(scenario: Scenario) -> str:
    runs = f"{scenario.seeds} seed{'s' if scenario.seeds > 1 else ''} × {scenario.duration_s:g} s"
    title = ": ".join(part for part in (scenario.name, scenario.description) if part)
    return f"{title}\n{runs}, profile {scenario.profile}"


@contextmanager
def _progress(scenario: Scenario) -> Iterator[Callable[[Run], None]]:
    with progress_bar() as bar:
        task = bar.add_task("running", total=len(plan(scenario)))
        yield lambda run: bar.update(task, advance=1, description=run["scheme"])
