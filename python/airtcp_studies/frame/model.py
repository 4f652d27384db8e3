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
    """What the paper leaves open, what it is here, and why. Never: because a number then comes out."""

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
    """What an experiment has found."""

    rows: Sequence[Row]
    figures: Mapping[str, Plot] = field(default_factory=dict)
    """By a short name that becomes the file's, e.g. `fig10`."""
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    """What a reader should know besides, a sentence or two each."""


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper."""

    id: str
    where: str
    """In the paper, e.g. `§8.2, Fig 10`."""
    title: str
    setup: str
    measure: Callable[[Context], Result]
    parameters: Sequence[OpenParameter]
    seeds: int


@dataclass(frozen=True)
class Paper:
    """One paper: what is in its file."""

    name: str
    """By which the command line calls it."""
    number: str
    title: str
    experiments: Sequence[Experiment]
    links: Mapping[str, str] = field(default_factory=dict)
    """The paths of its experiments by name: scenario text with loss and delays of one of its points, and
    one flow or none."""
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
