"""A fit as plain data, as `airtcp fit --json` writes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from airtcp._engine import version
from airtcp.facts.scenario import document
from airtcp.fit.closure.closing import Check
from airtcp.fit.findings import Finding, Unknown
from airtcp.fit.loss import Loss
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
    rate_bps: float
    """Forward rate; the mean of a recording."""
    loss: Loss | None
    check: Check | None
    """The measured transfer again on the fitted path; null if no file has one that could be repeated."""
    scenario: dict[str, Any]
    """The scenario with every default."""
    scenario_toml: str
    """The scenario with comments that give the source of each value."""


def fit_document(fitted: Fit) -> FitDocument:
    return FitDocument(
        format=1,
        airtcp=version(),
        name=fitted.name,
        inputs=tuple(Input(str(each.source), each.format) for each in fitted.measurements),
        found=fitted.found,
        unknown=fitted.unknown,
        notes=fitted.notes,
        rate_bps=fitted.rate_bps,
        loss=fitted.loss,
        check=fitted.check,
        scenario=document(fitted.scenario),
        scenario_toml=fitted.toml,
    )


def fit_schema() -> dict[str, Any]:
    """Returns the JSON Schema of what `airtcp fit --json` writes."""
    return schema_of(FitDocument)
