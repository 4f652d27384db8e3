"""The report of `airtcp paper`: the papers' numbers beside ours, and their figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from airtcp.facts.numbers import percent
from airtcp.showing.report.blocks import Block, Facts, List, Section, Source, Table, Text
from airtcp.showing.report.page import Page
from airtcp_studies.frame import words
from airtcp_studies.frame.document import ExperimentOut, PaperOut, PaperResults, TableOut
from airtcp_studies.frame.find import papers
from airtcp_studies.frame.plots import Plot
from airtcp_studies.pages.plots import figure_of, labels_of

METHOD = (
    "Each number stated by a paper is shown beside the simulator's: the mean ± {confidence} % "
    "confidence interval over seeds, the ratio of ours to the paper's, and a verdict. A claim must hold, "
    "a relative gain lie within a third of the quoted one, an absolute value or a ratio within {absolute} "
    "%, unless a row gives a reason. A row outside differs, with what was found to move it. What a paper "
    "leaves open is listed with the value chosen and why; nothing was chosen because it makes a number "
    "come out."
)
MOST_BUTTONS = 14
"""Limit per experiment; more would be in the way."""


@dataclass(frozen=True)
class Reproduction:
    """The results of `airtcp paper`, with figures by the experiment's id and their name."""

    document: PaperResults
    plots: Mapping[str, Mapping[str, Plot]]
    command: str


def paper_page(found: Reproduction) -> Page:
    document = found.document
    experiments = [each for paper in document["papers"] for each in paper["experiments"]]
    rows = [row for each in experiments for row in each["rows"]]
    said = METHOD.format(
        confidence=percent(document["confidence"], 0),
        absolute=percent(document["tolerances"]["absolute"], 0),
    )
    title = (
        f"{experiments[0]['id']}: {experiments[0]['title']}" if len(experiments) == 1 else "Papers reproduced"
    )
    return Page(
        title=title,
        summary=f"{_capital(words.tally(rows))}.",
        blocks=[
            Section("Summary", list(_summary(document, experiments, said))),
            *(Section(paper["title"], list(_paper(paper, found))) for paper in document["papers"]),
            _repeat(found),
        ],
    )


def _summary(document: PaperResults, experiments: Sequence[ExperimentOut], said: str) -> Iterator[Block]:
    if document["interrupted"]:
        yield Text("Interrupted: not all requested experiments are included.", "warning")
    if any(each["quick"] for each in experiments):
        yield Text(words.QUICK, "warning")
    yield Table(
        "Experiments, and how many rows agree with the paper",
        ["experiment", "where", "rows"],
        [
            [f"{each['id']}: {each['title']}", each["where"], words.tally(each["rows"])]
            for each in experiments
        ],
        left=[1, 2],
    )
    yield Text(said)


def _paper(paper: PaperOut, found: Reproduction) -> Iterator[Block]:
    yield from (Text(note) for note in paper["notes"])
    for experiment in paper["experiments"]:
        yield _experiment(experiment, found.plots.get(experiment["id"], {}))
    links = next(each.links for each in papers() if each.name == paper["name"])
    for name, text in links.items():
        yield Source(f"Link {paper['name']}/{name} as a scenario", text.strip(), f"{name}.toml")


def _experiment(found: ExperimentOut, plots: Mapping[str, Plot]) -> Section:
    labels = list(dict.fromkeys(label for plot in plots.values() for label in labels_of(plot)))
    blocks: list[Block] = [Text(f"{found['where']}. {words.setup(found)}")]
    if found["rows"]:
        blocks.append(_rows(found))
    remarks = words.remarks(found["rows"])
    if remarks:
        blocks.append(Section("Remarks", [List(remarks)]))
    if words.undecided(found):
        blocks.append(Text(words.undecided(found), "quiet"))
    if words.all_tried(found):
        blocks.append(Table(words.TRIED, words.TRIED_COLUMNS, words.all_tried(found), left=[1, 3]))
    blocks += [_extra(table) for table in found["tables"]]
    if plots:
        figures = [figure_of(plot, found["title"]) for plot in plots.values()]
        blocks.append(Section("Figures", figures, schemes=labels, buttons=1 < len(labels) <= MOST_BUTTONS))
    if found["parameters"]:
        open_ones = [(f"{each['name']}: {each['value']}", each["reason"]) for each in found["parameters"]]
        blocks.append(Section("What the paper leaves open", [List(open_ones)]))
    blocks += [Text(note) for note in found["notes"]]
    return Section(f"{found['id']}: {found['title']}", blocks)


def _rows(found: ExperimentOut) -> Table:
    return Table(
        f"{found['id']}: the paper's values beside ours. {_capital(words.tally(found['rows']))}.",
        ["row", *words.COLUMNS[1:]],
        [words.cells(row) for row in found["rows"]],
        strong=[place for place, row in enumerate(found["rows"]) if row["verdict"] == "differs"],
        left=[4],
        warns=True,
    )


def _extra(extra: TableOut) -> Table:
    return Table(
        extra["title"], extra["columns"], [[words.cell(cell) for cell in row] for row in extra["rows"]]
    )


def _repeat(found: Reproduction) -> Section:
    facts = {"airtcp": found.document["airtcp"], "seeds": _seeds(found.document)}
    return Section("Reproduce", [Facts(facts), Source("Command", found.command, "command.txt", folded=False)])


def _seeds(document: PaperResults) -> str:
    by_experiment = {
        each["id"]: each["seeds"] for paper in document["papers"] for each in paper["experiments"]
    }
    return ", ".join(f"{name}: {seeds}" for name, seeds in by_experiment.items())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
