"""What a paper's file declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import cleandoc

from airtcp.facts.stats import Estimate
from airtcp_studies.frame.context import Context
from airtcp_studies.frame.plots import Plot
from airtcp_studies.frame.rows import Row


@dataclass(frozen=True)
class OpenParameter:
    """A value that the paper leaves open, and the reason for the choice. Never: because it gives a certain
    number."""

    name: str
    value: str
    reason: str


@dataclass(frozen=True)
class Table:
    """A table beside the rows, e.g. one of the paper's."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | Estimate | None]]


@dataclass(frozen=True)
class Result:
    """The result of an experiment."""

    rows: Sequence[Row]
    figures: Mapping[str, Plot] = field(default_factory=dict)
    """By a short name that becomes the file name, e.g. `fig10`."""
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    """Remarks for the reader, a sentence or two each."""


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper."""

    id: str
    where: str
    """The place in the paper, e.g. `§8.2, Fig 10`."""
    title: str
    setup: str
    measure: Callable[[Context], Result]
    parameters: Sequence[OpenParameter]
    seeds: int


@dataclass(frozen=True)
class Paper:
    """The contents of a paper's file."""

    name: str
    """Its name on the command line."""
    number: str
    title: str
    experiments: Sequence[Experiment]
    links: Mapping[str, str] = field(default_factory=dict)
    """Named paths of its experiments: scenario text with loss and delays of one of its points, and at most
    one flow."""
    notes: Sequence[str] = ()


def experiment(
    identifier: str,
    *,
    where: str,
    title: str,
    parameters: Sequence[OpenParameter] = (),
    seeds: int = 10,
) -> Callable[[Callable[[Context], Result]], Experiment]:
    """Makes an experiment of the function that measures it; the function's docstring is the set-up."""

    def declare(measure: Callable[[Context], Result]) -> Experiment:
        setup = " ".join(cleandoc(measure.__doc__ or "").split())
        if not setup:
            raise ValueError(f"{identifier}: the docstring says what the set-up is, and is missing")
        return Experiment(identifier, where, title, setup, measure, parameters, seeds)

    return declare
