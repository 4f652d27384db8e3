"""Describes rows in the same words on the terminal and in the docs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from airtcp.facts.numbers import NONE, decimals
from airtcp_studies.frame.document import ExperimentOut, RowOut, TriedOut, Value
from airtcp_studies.frame.rows import Effect

COLUMNS = ("", "paper", "ours", "ratio", "verdict")
UNDECIDED = "*"
NOT_EXPLAINED = "not explained"
QUICK = "A quick run, only to check that everything works; its verdicts mean nothing."


def cells(row: RowOut) -> tuple[str, str, str, str, str]:
    """Returns the contents of the columns."""
    return (
        row["name"],
        paper(row),
        ours(row),
        NONE if row["ratio"] is None else f"{row['ratio']:.2f}",
        verdict(row),
    )


def paper(row: RowOut) -> str:
    if row["paper"] is None:
        return "claim" if row["holds"] is not None else NONE
    sign = "+" if row["kind"] == "gain" else ""
    # As the paper writes it; a value computed from its numbers has no more figures than they have.
    low, high = (f"{end:{sign}{'.0f' if end.is_integer() else '.4g'}}" for end in map(float, row["paper"]))
    return _with_unit(low if low == high else f"{low} … {high}", row["unit"])


def ours(row: RowOut) -> str:
    if row["holds"] is not None:
        return "yes" if row["holds"] else "no"
    return NONE if row["ours"] is None else _with_unit(value(row["ours"], row["kind"] == "gain"), row["unit"])


def verdict(row: RowOut) -> str:
    if row["verdict"] == "info":
        return NONE
    return row["verdict"] + ("" if row["decided"] else UNDECIDED)


def setup(experiment: ExperimentOut) -> str:
    """Returns the set-up, and the number of runs if means are taken."""
    runs = {row["ours"]["n"] for row in experiment["rows"] if row["ours"] is not None} - {0, 1}
    if not runs:
        return experiment["setup"]
    return f"{experiment['setup']} Mean of {' or '.join(map(str, sorted(runs)))} runs."


def remarks(rows: Sequence[RowOut]) -> list[tuple[str, str]]:
    """Returns remarks on rows: the rows' names, and a sentence; the same remark appears once."""
    names: dict[str, list[str]] = {}
    for name, text in _remarks(rows):
        names.setdefault(text, []).append(name)
    return [("; ".join(of_text), text) for text, of_text in names.items()]


def _remarks(rows: Sequence[RowOut]) -> Iterator[tuple[str, str]]:
    for row in rows:
        if row["verdict"] == "differs":
            yield row["name"], f"differs: {cause(row)}"
        if row["evidence"]:
            yield row["name"], row["evidence"]
        if row["tolerance_reason"] and row["tolerance"] is not None:
            yield row["name"], f"within {100 * row['tolerance']:.3g} %: {row['tolerance_reason']}"
        if row["note"]:
            yield row["name"], row["note"]


def cause(row: RowOut) -> str:
    """Returns which settings account for the difference, or that none was found and what was tried."""
    if not row["tried"]:
        return NOT_EXPLAINED
    causes = [each for each in row["tried"] if each["effect"] != "none"]
    if not causes:
        return f"not found, tried: {'; '.join(each['setting'] for each in row['tried'])}"
    found = [f"{each['setting']}: {tried(row, each)}" for each in causes]
    return f"moved by {'; '.join(found)}"


def tried(row: RowOut, found: TriedOut) -> str:
    """Returns the row's value under another setting."""
    if found["ours"] is None:
        return f"{'holds' if found['holds'] else 'does not hold'} ({found['evidence']})"
    return _with_unit(value(found["ours"], row["kind"] == "gain"), row["unit"])


TRIED = "What was tried on the rows that differ"
TRIED_COLUMNS = ("row", "setting", "ours", "then")
EFFECTS: dict[Effect, str] = {"agrees": "agrees", "nearer": "nearer", "none": "differs"}


def all_tried(experiment: ExperimentOut) -> list[tuple[str, str, str, str]]:
    """Returns the table of what was tried on the rows that differ; a row's name stands once."""
    cells = []
    for row in experiment["rows"]:
        if row["verdict"] == "differs":
            for place, each in enumerate(row["tried"]):
                name = row["name"] if place == 0 else ""
                cells.append((name, each["setting"], tried(row, each), EFFECTS[each["effect"]]))
    return cells


FEW = 4
"""Rows without a verdict that stand beside the others on the terminal; more are folded."""


def judged_first(rows: Sequence[RowOut]) -> Sequence[RowOut]:
    """Returns the rows for a short page: without those that have no verdict, unless these are few or all."""
    judged = [row for row in rows if row["verdict"] != "info"]
    return judged if judged and len(rows) - len(judged) > FEW else rows


def folded(experiment: ExperimentOut) -> str:
    """Returns a line about what the short page leaves out."""
    left = len(experiment["rows"]) - len(judged_first(experiment["rows"]))
    parts = [
        *([f"{left} rows without a verdict"] if left else []),
        *(["tables"] if experiment["tables"] else []),
        *(["reasons"] if experiment["parameters"] else []),
        *(["notes"] if experiment["notes"] else []),
    ]
    return f"; with --full: {', '.join(parts)}" if parts else ""


def undecided(experiment: ExperimentOut) -> str:
    """Returns the footnote if it is needed."""
    if all(row["decided"] for row in experiment["rows"]):
        return ""
    return f"{UNDECIDED} The interval crosses the limit: other seeds may give the opposite verdict."


def tally(rows: Sequence[RowOut]) -> str:
    """`12 of 15 rows agree, 3 differ (1 not explained)`."""
    judged = [row for row in rows if row["verdict"] != "info"]
    differing = [row for row in judged if row["verdict"] == "differs"]
    unexplained = sum(not row["tried"] for row in differing)
    if not judged:
        return "no row is judged"
    text = f"{len(judged) - len(differing)} of {len(judged)} rows agree"
    if differing:
        text += f", {len(differing)} differ{'s' if len(differing) == 1 else ''}"
    return text + (f" ({unexplained} {NOT_EXPLAINED})" if unexplained else "")


def cell(content: str | float | Value | None) -> str:
    """Formats a cell of a table beside the rows."""
    if content is None:
        return NONE
    if isinstance(content, str):
        return content
    return number(content) if isinstance(content, (int, float)) else value(content)


def value(found: Value, signed: bool = False) -> str:
    """Formats `mean ± half-width`, both with the decimals that give three figures of the larger."""
    # JSON has no NaN and uses null.
    mean: float | None = found["mean"]
    if mean is None or math.isnan(mean):
        return "undefined"
    if found["half_width"] is None or found["n"] < 2:
        return number(mean, signed)
    style = _style(mean, found["half_width"])
    return f"{mean:{'+' if signed else ''}{style}} ± {found['half_width']:{style}}"


def number(content: float, signed: bool = False) -> str:
    """Shows at least three figures, with an exponent only if the number is very small."""
    return f"{content:{'+' if signed else ''}{_style(content)}}"


def _style(*numbers: float) -> str:
    """Returns a format common to these numbers."""
    largest = max(map(abs, numbers))
    if all(float(each).is_integer() for each in numbers):
        return ".0f"
    return ".2e" if largest < 1e-3 else f".{decimals(largest)}f"


def _with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit else text
