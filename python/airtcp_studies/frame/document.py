"""The JSON document of a reproduction. Its schema is derived from these types; terminal and docs show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypedDict

from airtcp._engine import version
from airtcp.facts.stats import CONFIDENCE
from airtcp.results.document import plain, schema_of
from airtcp_studies.frame.find import papers
from airtcp_studies.frame.model import Experiment, Paper, Result
from airtcp_studies.frame.rows import TOLERANCES, Effect, Kind, Row, Tried, Verdict


class Value(TypedDict):
    """A mean over `n` seeds and the half-width of its interval."""

    mean: float
    half_width: float | None
    n: int


class TriedOut(TypedDict):
    """A row under another setting: `effect` says whether it then agrees with the paper, or is much nearer."""

    setting: str
    ours: Value | None
    holds: bool | None
    evidence: str
    effect: Effect


class RowOut(TypedDict):
    """One row. `paper` has two numbers, equal unless the paper gives a range; gains are in percent."""

    name: str
    kind: Kind
    unit: str
    paper: list[float] | None
    ours: Value | None
    holds: bool | None
    evidence: str
    ratio: float | None
    tolerance: float | None
    tolerance_reason: str
    verdict: Verdict
    decided: bool
    tried: list[TriedOut]
    note: str


class TableOut(TypedDict):
    """A table beside the rows."""

    title: str
    columns: list[str]
    rows: list[list[str | float | Value | None]]


class FigureOut(TypedDict):
    """A figure; `file` is its name without suffix."""

    file: str
    caption: str


class ParameterOut(TypedDict):
    """What the paper leaves open."""

    name: str
    value: str
    reason: str


class ExperimentOut(TypedDict):
    """One experiment. `seeds` are runs per scheme, unless the set-up or a note says otherwise."""

    id: str
    where: str
    title: str
    setup: str
    seeds: int
    quick: bool
    parameters: list[ParameterOut]
    rows: list[RowOut]
    tables: list[TableOut]
    figures: list[FigureOut]
    notes: list[str]


class PaperOut(TypedDict):
    """One paper, with those of its experiments that have run."""

    name: str
    number: str
    title: str
    notes: list[str]
    experiments: list[ExperimentOut]


class PaperResults(TypedDict):
    """The results of `airtcp paper`. `tolerances` are shares of the quoted value, by the kind of row."""

    format: Literal[1]
    airtcp: str
    interrupted: bool
    confidence: float
    tolerances: dict[str, float]
    papers: list[PaperOut]


def figure_file(experiment: Experiment, name: str) -> str:
    return f"{experiment.id}-{name}"


def experiment_out(experiment: Experiment, result: Result, *, seeds: int, quick: bool) -> ExperimentOut:
    document: ExperimentOut = plain(
        {
            "id": experiment.id,
            "where": experiment.where,
            "title": experiment.title,
            "setup": experiment.setup,
            "seeds": seeds,
            "quick": quick,
            "parameters": experiment.parameters,
            "rows": [_row(row) for row in result.rows],
            "tables": result.tables,
            "figures": [
                {"file": figure_file(experiment, name), "caption": plot.caption or experiment.title}
                for name, plot in result.figures.items()
            ],
            "notes": result.notes,
        }
    )
    return document


def paper_results(found: Sequence[ExperimentOut], *, interrupted: bool = False) -> PaperResults:
    """Groups experiments by paper, in the papers' order; papers without any are left out."""
    by_id = {experiment["id"]: experiment for experiment in found}
    documents = [_paper(paper, by_id) for paper in papers()]
    return {
        "format": 1,
        "airtcp": version(),
        "interrupted": interrupted,
        "confidence": CONFIDENCE,
        "tolerances": {str(kind): share for kind, share in TOLERANCES.items()},
        "papers": [document for document in documents if document["experiments"]],
    }


def merged(old: PaperResults, new: PaperResults) -> PaperResults:
    """Returns `old` with the experiments of `new` replaced or added."""
    by_id = {experiment["id"]: experiment for experiment in [*experiments(old), *experiments(new)]}
    return paper_results(list(by_id.values()))


def experiments(document: PaperResults) -> Iterator[ExperimentOut]:
    for paper in document["papers"]:
        yield from paper["experiments"]


def paper_results_schema() -> dict[str, Any]:
    return schema_of(PaperResults)


def _paper(paper: Paper, by_id: dict[str, ExperimentOut]) -> PaperOut:
    return {
        "name": paper.name,
        "number": paper.number,
        "title": paper.title,
        "notes": list(paper.notes),
        "experiments": [by_id[found.id] for found in paper.experiments if found.id in by_id],
    }


def _row(row: Row) -> RowOut:
    document: RowOut = plain(
        {
            "name": row.name,
            "kind": row.kind,
            "unit": row.unit,
            "paper": row.paper,
            "ours": row.ours,
            "holds": row.holds,
            "evidence": row.evidence,
            "ratio": row.ratio,
            "tolerance": row.tolerance.share if row.tolerance else None,
            "tolerance_reason": row.tolerance.reason if row.tolerance else "",
            "verdict": row.verdict,
            "decided": row.decided,
            "tried": [_tried(row, each) for each in row.tried],
            "note": row.note,
        }
    )
    return document


def _tried(row: Row, tried: Tried) -> dict[str, object]:
    return {
        "setting": tried.setting,
        "ours": tried.ours,
        "holds": tried.holds,
        "evidence": tried.evidence,
        "effect": row.effect(tried),
    }
