"""Runs the papers' experiments, shows the results, and writes them."""

from __future__ import annotations

import json as json_module
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import typer
from matplotlib.figure import Figure
from rich.console import Console
from rich.padding import Padding

from airtcp._engine import ScenarioError
from airtcp.cli.console import plain_console, write_json
from airtcp.cli.errors import INTERRUPTED, InputError, check_outputs, writing
from airtcp.results.document import to_json
from airtcp.running.progress import watched
from airtcp.showing.figures.style import save, save_svg, style
from airtcp.showing.table import Heading, print_fitted
from airtcp_studies.frame import words
from airtcp_studies.frame.context import QUICK_SEEDS, Context
from airtcp_studies.frame.docs import FIGURES, page
from airtcp_studies.frame.document import (
    ExperimentOut,
    PaperResults,
    TableOut,
    experiment_out,
    figure_file,
    merged,
    paper_results,
)
from airtcp_studies.frame.find import UnknownName, link, links, papers, select
from airtcp_studies.frame.model import Experiment
from airtcp_studies.frame.plots import Plot


@dataclass(frozen=True)
class Request:
    """The options of `airtcp paper run`."""

    names: Sequence[str]
    seeds: int | None
    quick: bool
    jobs: int | None
    out: Path
    json: str | None
    docs: Path | None
    report: Path | None = None

    @property
    def command(self) -> str:
        """The command that repeats it."""
        seeds = ["--seeds", str(self.seeds)] if self.seeds else []
        quick = ["--quick"] if self.quick else []
        return shlex.join(["airtcp", "paper", *self.names, *seeds, *quick])


def show_list() -> None:
    console = plain_console()
    for paper in papers():
        console.print(f"{paper.name} ({paper.number}): {paper.title}")
        for found in paper.experiments:
            console.print(Padding(f"{found.id:<4} {found.title} ({found.where})", (0, 0, 0, 2), expand=False))


def show_link(name: str | None) -> None:
    if name is None:
        print("\n".join(links()))
        return
    with _known():
        print(link(name).strip())


def reproduce(request: Request) -> None:
    with _known():
        chosen = select(request.names)
    console = plain_console(stderr=request.json == "-")
    make_folders(request.out, request.docs)
    check_outputs(None, request.json, request.report)
    done: list[ExperimentOut] = []
    plots: dict[str, Mapping[str, Plot]] = {}
    try:
        for _, experiment in chosen:
            began = perf_counter()
            document, plots[experiment.id] = _run(request, experiment)
            done.append(document)
            show(console, document, perf_counter() - began)
            # Written after each, so that a failure of the next loses nothing.
            _write(request, paper_results(done, interrupted=len(done) < len(chosen)), plots)
    except KeyboardInterrupt:
        console.print(f"Interrupted: {len(done)} of {len(chosen)} experiments finished.")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        write_json(paper_results(done, interrupted=len(done) < len(chosen)), request.json)
        if len(done) > 1:
            rows = [row for found in done for row in found["rows"]]
            console.print(f"Combined data: {words.tally(rows)}.")
        if done:
            said = f", report: {request.report}" if request.report else ""
            console.print(f"Figures and data: {request.out}/{said}")


@contextmanager
def _known() -> Iterator[None]:
    """Turns an unknown name into an error that the user can correct."""
    try:
        yield
    except UnknownName as error:
        raise InputError(str(error)) from error


def _run(request: Request, experiment: Experiment) -> tuple[ExperimentOut, Mapping[str, Plot]]:
    seeds = request.seeds or (QUICK_SEEDS if request.quick else experiment.seeds)
    with watched(experiment.id) as watcher, style():
        context = Context(seeds, request.quick, request.seeds, request.jobs, watcher)
        try:
            result = experiment.measure(context)
        except ScenarioError as error:
            raise InputError(f"{experiment.id}: {error}") from error
        for name, plot in result.figures.items():
            save_figure(plot.draw(), request.out, request.docs, figure_file(experiment, name))
    return experiment_out(experiment, result, seeds=seeds, quick=request.quick), result.figures


def make_folders(out: Path, docs: Path | None) -> None:
    check_outputs(out)
    check_outputs(docs / FIGURES if docs else None)


def save_figure(drawn: Figure, out: Path, docs: Path | None, name: str) -> None:
    """Writes the figure as PNG and SVG; the docs show only the SVG."""
    with writing(out):
        save(drawn, out, name)
    if docs:
        with writing(docs):
            save_svg(drawn, docs / FIGURES, name)


def show(console: Console, found: ExperimentOut, took_s: float) -> None:
    """Prints one experiment on the terminal."""
    console.print(f"{found['id']}  {found['title']} ({found['where']})", style="bold")
    console.print(words.setup(found))
    if found["quick"]:
        console.print(words.QUICK)
    if found["rows"]:
        _print_rows(console, found)
    for name, text in words.remarks(found):
        console.print(Padding(f"{name}: {text}", (0, 0, 0, 1), expand=False))
    if words.undecided(found):
        console.print(Padding(words.undecided(found), (0, 0, 0, 1), expand=False))
    for extra in found["tables"]:
        _print_extra(console, extra)
    for each in found["parameters"]:
        console.print(
            Padding(f"open: {each['name']} = {each['value']}: {each['reason']}", (0, 0, 0, 1), expand=False)
        )
    for note in found["notes"]:
        console.print(Padding(note, (0, 0, 0, 1), expand=False))
    console.print(f"{words.tally(found['rows'])}; {took_s:.1f} s\n")


def _print_rows(console: Console, found: ExperimentOut) -> None:
    name, paper, ours, ratio, verdict = words.COLUMNS
    headings = [
        Heading(name, kind="words"),
        Heading(paper),
        Heading(ours),
        Heading(ratio, 1),
        Heading(verdict, kind="words"),
    ]
    styles = ["bold" if row["verdict"] == "differs" else "" for row in found["rows"]]
    print_fitted(console, headings, [words.cells(row) for row in found["rows"]], styles)


def _print_extra(console: Console, extra: TableOut) -> None:
    console.print(Padding(extra["title"], (1, 0, 0, 0), expand=False))
    first, *others = extra["columns"]
    headings = [Heading(first, kind="words"), *(Heading(title, place) for place, title in enumerate(others))]
    print_fitted(console, headings, [[*map(words.cell, row)] for row in extra["rows"]])


def _write(request: Request, document: PaperResults, plots: Mapping[str, Mapping[str, Plot]]) -> None:
    with writing(request.out):
        (request.out / "results.json").write_text(to_json(document), encoding="utf-8")
    if request.docs:
        with writing(request.docs):
            _write_docs(request.docs, document)
    if request.report:
        from airtcp_studies.pages.papers import Reproduction, paper_page  # noqa: PLC0415 only who wants a page pays for it

        with writing(request.report):
            paper_page(Reproduction(document, plots, request.command)).write(request.report)


def _write_docs(folder: Path, document: PaperResults) -> None:
    """Updates `papers.json`; experiments that have not run now stay as they are."""
    data = folder / "papers.json"
    if data.exists():
        document = merged(json_module.loads(data.read_text(encoding="utf-8")), document)
    data.write_text(to_json(document), encoding="utf-8")
    (folder / "papers.md").write_text(page(document), encoding="utf-8")
