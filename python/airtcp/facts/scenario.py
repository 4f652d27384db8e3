"""Where a scenario comes from, and the seeds that it asks for."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from airtcp._engine import Scenario
from airtcp.control import CongestionControl

Document = dict[str, Any]
ScenarioLike = Scenario | str | PathLike[str]
"""A scenario, or the path of a file that is one, or of a measurement, to which one is fitted."""


def scenario_of(source: ScenarioLike | None, **keys: object) -> Scenario:
    """The scenario, or the one in the file; without either, the built-in lossy link. `keys` change it.

    A key that is None is left as it is. Raises ScenarioError and OSError, and what `fit` does.
    """
    if source is None:
        scenario = Scenario.built_in()
    elif isinstance(source, Scenario):
        scenario = source
    elif is_measurement(Path(source)):
        from airtcp.fit import fit  # noqa: PLC0415 as below

        scenario = fit(source).scenario
    else:
        scenario = Scenario.load(source)
    wanted = {key: value for key, value in keys.items() if value is not None}
    return scenario.vary(wanted) if wanted else scenario


def schemes_of(
    schemes: Sequence[str | type[CongestionControl]] | None,
) -> list[str | type[CongestionControl]] | None:
    """As a list. Raises TypeError for a single one: a text would be taken for as many as it has letters."""
    if isinstance(schemes, str | type):
        one = f'"{schemes}"' if isinstance(schemes, str) else schemes.__name__
        raise TypeError(f"schemes is a list of schemes, e.g. [{one}]")
    return None if schemes is None else list(schemes)


def is_measurement(path: Path) -> bool:
    """Is it a file that neither is called nor looks like a scenario?"""
    if path.suffix == ".toml" or not path.is_file():
        return False
    # Readers take time to import, and only this needs them.
    from airtcp.fit.detect import is_scenario  # noqa: PLC0415

    return not is_scenario(path)


def seeds_of(scenario: Scenario) -> list[int]:
    return list(range(scenario.seed, scenario.seed + scenario.seeds))


def plan(scenario: Scenario) -> list[tuple[int, str]]:
    """Seeds and schemes in the order in which they run.

    Seeds outside, schemes inside: what is finished when it is interrupted can still be compared.
    """
    return [(seed, scheme) for seed in seeds_of(scenario) for scheme in scenario.schemes]


def document(scenario: Scenario) -> Document:
    """The scenario with every default written out."""
    return tomllib.loads(scenario.to_toml())


def replays(path: Document) -> bool:
    """Do all seeds meet the same stretch of a recording?"""
    return is_recorded(path) and path["enter_recordings"] == "at-start"


def is_recorded(path: Document) -> bool:
    """Is something on the path a recording?"""
    sides = [side for link in path["link"] for side in (link, link["reverse"])]
    return any(
        "trace" in side or "log" in side or side.get("jitter", {}).get("distribution") == "series"
        for side in sides
    )


def headline(scenario: Scenario) -> str:
    """Name and description, and how much is run."""
    runs = f"{scenario.seeds} seed{'s' if scenario.seeds > 1 else ''} × {scenario.duration_s:g} s"
    title = ": ".join(part for part in (scenario.name, scenario.description) if part)
    return f"{title}\n{runs}, profile {scenario.profile}"
