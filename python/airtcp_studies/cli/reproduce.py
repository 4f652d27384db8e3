"""Runs the papers' experiments, shows the results, and writes them."""

from __future__ import annotations

import json as json_module
import shlex
import textwrap
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
from airtcp_studies.fidelity.circuit_journal import CIRCUITS, CircuitJournal
from airtcp_studies.fidelity.circuit_page import papers_rows
from airtcp_studies.frame import words
from airtcp_studies.frame.context import QUICK_SEEDS, Context
from airtcp_studies.frame.docs import FIGURES, page
from airtcp_studies.frame.document import (
    ExperimentOut,
    PaperResults,
    RowOut,
    TableOut,
    experiment_out,
    figure_file,
    merged,
    paper_results,
)
from airtcp_studies.frame.find import UnknownName, link, links, papers, select
from airtcp_studies.frame.model import Experiment
from airtcp_studies.frame.plots import Plot

INDENT = "  "


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
    full: bool = False

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
            show(console, document, perf_counter() - began, full=request.full)
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


def show(console: Console, found: ExperimentOut, took_s: float, *, full: bool = False) -> None:
    """Prints one experiment on the terminal; with `full`, all that the page has."""
    console.print(f"{found['id']}  {found['title']} ({found['where']})", style="bold")
    console.print(words.setup(found))
    if found["quick"]:
        console.print(words.QUICK)
    rows = found["rows"] if full else words.judged_first(found["rows"])
    if rows:
        _print_rows(console, rows)
    for name, text in words.remarks(rows):
        _print_item(console, f"{name}: {text}")
    if words.undecided(found):
        _print_item(console, words.undecided(found))
    if words.all_tried(found):
        _print_table(console, words.TRIED, words.TRIED_COLUMNS, words.all_tried(found))
    if full:
        for extra in found["tables"]:
            _print_extra(console, extra)
    for each in found["parameters"]:
        reason = f": {each['reason']}" if full else ""
        _print_item(console, f"open: {each['name']} = {each['value']}{reason}")
    for note in found["notes"] if full else ():
        _print_item(console, note)
    folded = "" if full else words.folded(found)
    console.print(f"{words.tally(found['rows'])}; {took_s:.1f} s{folded}\n")


def _print_item(console: Console, text: str) -> None:
    """Prints a remark whose further lines stand deeper than its first."""
    width = console.width - len(INDENT)
    console.print(
        textwrap.fill(text, width, initial_indent=INDENT, subsequent_indent=2 * INDENT), highlight=False
    )


def _print_rows(console: Console, rows: Sequence[RowOut]) -> None:
    name, paper, ours, ratio, verdict = words.COLUMNS
    headings = [
        Heading(name, kind="words"),
        Heading(paper),
        Heading(ours),
        Heading(ratio, 1),
        Heading(verdict, kind="words"),
    ]
    styles = ["bold" if row["verdict"] == "differs" else "" for row in rows]
    print_fitted(console, headings, [words.cells(row) for row in rows], styles)


def _print_extra(console: Console, extra: TableOut) -> None:
    _print_table(
        console, extra["title"], extra["columns"], [[*map(words.cell, row)] for row in extra["rows"]]
    )


def _print_table(console: Console, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    console.print(Padding(title, (1, 0, 0, 0), expand=False))
    first, *others = columns
    headings = [Heading(first, kind="words"), *(Heading(each, place) for place, each in enumerate(others))]
    print_fitted(console, headings, rows)


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
    journal = CircuitJournal(folder / "fidelity" / CIRCUITS)
    (folder / "papers.md").write_text(page(document, papers_rows(journal)), encoding="utf-8")
