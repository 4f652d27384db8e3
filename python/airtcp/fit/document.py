"""A fit as plain data, as `airtcp fit --json` writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from airtcp._engine import version
from airtcp.facts.scenario import document
from airtcp.fit.arrival import NothingArrives
from airtcp.fit.closure.closing import Check
from airtcp.fit.evidence import shown
from airtcp.fit.findings import Finding, Unknown
from airtcp.fit.holes import Hole
from airtcp.fit.kinds import Verdict
from airtcp.fit.loss import Loss
from airtcp.fit.measurement import Measurement
from airtcp.fit.radio import Radio
from airtcp.results.document import schema_of

if TYPE_CHECKING:
    from airtcp.fit.fitting import Fit


@dataclass(frozen=True)
class Input:
    """A file that was read."""

    file: str
    format: str


@dataclass(frozen=True)
class FitDocument:
    """What measurements show of a path, and what they do not. Rates are in bit/s, shares from 0 to 1."""

    format: Literal[1]
    airtcp: str
    name: str
    inputs: tuple[Input, ...]
    found: tuple[Finding, ...]
    unknown: tuple[Unknown, ...]
    notes: tuple[str, ...]
    holes: tuple[Hole, ...]
    """Path-MTU black holes."""
    kinds: tuple[Verdict, ...]
    """Kinds of air, if there are round trips enough to tell, or the radio itself did."""
    radio: Radio | None
    """What the radio said of itself, if it was asked."""
    rate_bps: float | None
    """Forward rate; the mean of a recording. None if nothing arrives."""
    loss: Loss | None
    check: Check | None
    """The measured transfer again on the fitted path; null if no file has one that could be repeated."""
    scenario: dict[str, Any] | None
    """The scenario with every default. None if nothing arrives."""
    scenario_toml: str | None
    """The scenario with comments that give the source of each value. None if nothing arrives."""


def fit_document(fitted: Fit) -> FitDocument:
    return FitDocument(
        format=1,
        airtcp=version(),
        name=fitted.name,
        inputs=_inputs(fitted.measurements),
        found=fitted.found,
        unknown=fitted.unknown,
        notes=fitted.notes,
        holes=fitted.holes,
        kinds=fitted.kinds,
        radio=next((each.radio for each in fitted.measurements if each.radio), None),
        rate_bps=fitted.rate_bps,
        loss=fitted.loss,
        check=fitted.check,
        scenario=document(fitted.scenario),
        scenario_toml=fitted.toml,
    )


def failure_document(failure: NothingArrives) -> FitDocument:
    """Returns what the files show of a path over which nothing arrives."""
    return FitDocument(
        format=1,
        airtcp=version(),
        name=shown(failure.measurements[0].source.stem),
        inputs=_inputs(failure.measurements),
        found=tuple(hole.finding for hole in failure.holes),
        unknown=(),
        notes=failure.lines,
        holes=failure.holes,
        kinds=(),
        radio=next((each.radio for each in failure.measurements if each.radio), None),
        rate_bps=None,
        loss=None,
        check=None,
        scenario=None,
        scenario_toml=None,
    )


def _inputs(measurements: Sequence[Measurement]) -> tuple[Input, ...]:
    return tuple(Input(str(each.source), each.format) for each in measurements)


def fit_schema() -> dict[str, Any]:
    """Returns the JSON Schema of what `airtcp fit --json` writes."""
    return schema_of(FitDocument)
