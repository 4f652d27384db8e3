"""Finds papers, and the experiments that the user names."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache

import airtcp_studies.papers
from airtcp_studies.frame.model import Experiment, Paper

ALL = "all"


class UnknownName(ValueError):
    """No paper, experiment or link has this name: lists those that do, and suggests the nearest."""


@cache
def papers() -> tuple[Paper, ...]:
    """Returns every module of `airtcp_studies.papers` that declares `PAPER`, by the papers' numbers."""
    names = [module.name for module in pkgutil.iter_modules(airtcp_studies.papers.__path__)]
    modules = [importlib.import_module(f"{airtcp_studies.papers.__name__}.{name}") for name in names]
    found = [module.PAPER for module in modules if hasattr(module, "PAPER")]
    ids = [experiment.id for paper in found for experiment in paper.experiments]
    twice = {name for name in ids if ids.count(name) > 1}
    if twice:
        raise ValueError(f"experiments declared twice: {', '.join(sorted(twice))}")
    return tuple(sorted(found, key=lambda paper: paper.number))


def select(names: Sequence[str]) -> list[tuple[Paper, Experiment]]:
    """Returns the experiments that `names` (of experiments, papers, or `all`) select: each once, in order.

    Raises UnknownName.
    """
    wanted: set[str] = set()
    for name in names:
        ids = _ids(name)
        if not ids:
            experiments = [found.id for paper in papers() for found in paper.experiments]
            raise unknown(
                "experiment or paper", name, [ALL, *(paper.name for paper in papers()), *experiments]
            )
        wanted |= ids
    return [(paper, found) for paper in papers() for found in paper.experiments if found.id in wanted]


def links() -> dict[str, str]:
    """Returns every paper's paths, e.g. `decoupling/lossy-ethernet`, with their scenario text."""
    return {f"{paper.name}/{name}": text for paper in papers() for name, text in paper.links.items()}


def link(name: str) -> str:
    """Returns the scenario text of a link, e.g. `decoupling/lossy-ethernet`. Raises UnknownName."""
    known = links()
    if name not in known:
        raise unknown("link", name, list(known))
    return known[name]


def _ids(name: str) -> set[str]:
    low = name.lower()
    return {
        found.id
        for paper in papers()
        for found in paper.experiments
        if low in (ALL, paper.name.lower(), paper.number, found.id.lower())
    }


def unknown(what: str, name: str, known: Sequence[str]) -> UnknownName:
    """Returns the error that suggests the nearest name."""
    by_low = {word.lower(): word for word in known}
    near = get_close_matches(name.lower(), by_low, n=1, cutoff=0.4)
    hint = f": did you mean {by_low[near[0]]}?" if near else "."
    return UnknownName(f"no {what} is called {name}{hint} There are {', '.join(known)}.")
