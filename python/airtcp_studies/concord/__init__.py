"""Concord, airtcp's own congestion control: its gates, and the benefit of each of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypedDict

from airtcp._engine import version
from airtcp.facts.stats import CONFIDENCE
from airtcp.results.document import plain, schema_of
from airtcp_studies.concord.ablation import COMPOSED, PARTS, Measure, composed_measures, measures
from airtcp_studies.concord.gates import Gate, gates
from airtcp_studies.frame.context import Case, Context, Runs

SEEDS = 10
FIRST_SEED = 401
"""Not among the seeds on which it was tuned."""
DURATION = "60s"
QUICK_DURATION = "3s"
QUICK_PATHS = 1
"""Paths of each gate."""


class PathOut(TypedDict):
    """One path of a gate; `cells` belong to the gate's columns."""

    path: str
    cells: list[str]
    met: bool


class GateOut(TypedDict):
    """One gate, and whether it is met on all of its paths."""

    name: str
    asked: str
    columns: list[str]
    paths: list[PathOut]
    met: bool


class TableOut(TypedDict):
    """`rows` begin with the row's name: the part left out, or the controller's place."""

    columns: list[str]
    rows: list[list[str]]


class ConcordOut(TypedDict):
    """The results of `airtcp paper concord`."""

    format: Literal[1]
    airtcp: str
    confidence: float
    duration: str
    seeds: int
    first_seed: int
    quick: bool
    gates: list[GateOut]
    ablation: TableOut
    composition: TableOut


def concord(ctx: Context, trace_folder: Path | None = None) -> ConcordOut:
    """Runs everything. Raises ScenarioError and KeyboardInterrupt like `Context.sweep`."""
    duration = ctx.pick(DURATION, quick=QUICK_DURATION)
    sets = {"duration": duration, "seed": FIRST_SEED}
    asked = [_of(gate, ctx) for gate in gates(trace_folder)]
    tables = {
        "without": (PARTS, ctx.pick(measures(), quick=measures()[:1])),
        "where": (COMPOSED, ctx.pick(composed_measures(), quick=composed_measures()[:1])),
    }
    cases = {
        **{
            (gate.name, name): Case(text, gate.schemes, sets)
            for gate in asked
            for name, text in gate.paths.items()
        },
        **{
            (table, each.title): Case(each.scenario, each.schemes(rows), sets)
            for table, (rows, wanted) in tables.items()
            for each in wanted
        },
    }
    found = ctx.sweep(cases)
    ablation, composition = (
        _table(title, rows, {each: found[title, each.title] for each in wanted})
        for title, (rows, wanted) in tables.items()
    )
    document: ConcordOut = {
        "format": 1,
        "airtcp": version(),
        "confidence": CONFIDENCE,
        "duration": duration,
        "seeds": ctx.forced_seeds or ctx.seeds,
        "first_seed": FIRST_SEED,
        "quick": ctx.quick,
        "gates": [_judged(gate, {name: found[gate.name, name] for name in gate.paths}) for gate in asked],
        "ablation": ablation,
        "composition": composition,
    }
    return plain(document)  # type: ignore[no-any-return]


def concord_schema() -> dict[str, Any]:
    return schema_of(ConcordOut)


def _of(gate: Gate, ctx: Context) -> Gate:
    few = dict(list(gate.paths.items())[:QUICK_PATHS])
    return replace(gate, paths=ctx.pick(gate.paths, quick=few))


def _judged(gate: Gate, found: Mapping[str, Runs]) -> GateOut:
    rows = {name: gate.judge(runs) for name, runs in found.items()}
    return {
        "name": gate.name,
        "asked": gate.asked,
        "columns": list(gate.columns),
        "paths": [{"path": name, "cells": list(row.cells), "met": row.is_met} for name, row in rows.items()],
        "met": all(row.is_met for row in rows.values()),
    }


def _table(title: str, rows: Mapping[str, str], found: Mapping[Measure, Runs]) -> TableOut:
    cells = {name: [each.cell(runs, scheme) for each, runs in found.items()] for name, scheme in rows.items()}
    return {
        "columns": [title, *(each.title for each in found)],
        "rows": [[name, *row] for name, row in cells.items()],
    }
