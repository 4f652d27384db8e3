"""Which schemes a Linux kernel can run, and why not the others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from airtcp._engine import Scenario
from airtcp.facts.scheme import Scheme
from airtcp.linux.error import LinuxError
from airtcp.linux.place import Place
from airtcp.running.scratch import scratch_folder

KERNELS_OWN = ("cubic", "reno", "bbr")
"""Included in every comparison on the kernel, as the baseline that others must beat."""


@dataclass(frozen=True)
class LeftOut:
    """A requested scheme that has no form on Linux."""

    scheme: str
    reason: str


@dataclass(frozen=True)
class Forms:
    """The schemes of a scenario that can run."""

    schemes: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


def with_kernels_own(scenario: Scenario) -> Scenario:
    """Returns the scenario with the kernel's own congestion controls after the requested schemes."""
    own = [name if scenario.profile == "linux" else f"{name}:profile=linux" for name in KERNELS_OWN]
    schemes = dict.fromkeys([*scenario.schemes, *own])
    return scenario.vary(schemes=list(schemes)) if len(schemes) > len(scenario.schemes) else scenario


def forms(place: Place, scenario: Scenario) -> Forms:
    """Asks `airtcpd run --plan`. Raises LinuxError if no scheme can run."""
    asked = scenario.schemes
    python = [LeftOut(scheme, _IN_PYTHON) for scheme in asked if _is_in_python(scheme, scenario)]
    here = {each.scheme for each in python}
    rest = [scheme for scheme in asked if scheme not in here]
    told = _plan(place, scenario.vary(schemes=rest)) if rest else []
    reasons = {each.scheme: each for each in [*python, *told]}
    found = Forms(
        tuple(scheme for scheme in asked if scheme not in reasons),
        tuple(reasons[scheme] for scheme in asked if scheme in reasons),
    )
    if not found.schemes:
        raise LinuxError(
            "none of the schemes can run on Linux:\n" + "\n".join(left_out_notes(found.left_out))
        )
    return found


def left_out_notes(left_out: Sequence[LeftOut]) -> list[str]:
    """Returns a line of text per scheme."""
    return [f"Not on Linux: {each.scheme}: {each.reason}" for each in left_out]


_IN_PYTHON = "a congestion control written in Python cannot run on Linux"


def _is_in_python(scheme: str, scenario: Scenario) -> bool:
    names = {controller.name for controller in scenario.controllers}
    return not names.isdisjoint(Scheme(scheme).names)


def _plan(place: Place, scenario: Scenario) -> list[LeftOut]:
    with scratch_folder() as folder:
        recipe = folder / "recipe.json"
        recipe.write_text(scenario.recipe_json(), encoding="utf-8")
        plan = json.loads(place.plan(recipe))
    # In the order of the request; airtcpd may name them differently.
    return [
        LeftOut(scheme, told["reason"])
        for scheme, told in zip(scenario.schemes, plan, strict=True)
        if told["form"] is None
    ]
