"""Turns whatever stands for a scenario into one."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from airtcp._engine import Scenario
from airtcp.control import CongestionControl
from airtcp.facts.assumption import Assumption
from airtcp.facts.scenario import document

ScenarioLike = Scenario | str | PathLike[str]
"""A scenario, or the path of a scenario file or of a measurement, to which a scenario is fitted."""


def scenario_of(source: ScenarioLike | None, **keys: object) -> Scenario:
    """Returns the scenario, or the one in the file; without either, the built-in lossy link.

    `keys` change it, except those that are None. Raises ScenarioError, OSError, and the errors of `fit`.
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
    """Returns the schemes as a list. Raises TypeError for a bare string, which would count as one scheme per
    letter."""
    if isinstance(schemes, str | type):
        one = f'"{schemes}"' if isinstance(schemes, str) else schemes.__name__
        raise TypeError(f"schemes must be a list, e.g. [{one}]")
    return None if schemes is None else list(schemes)


def is_measurement(path: Path) -> bool:
    """Returns whether the file is no scenario by its name or its content."""
    if path.suffix == ".toml" or not path.is_file():
        return False
    # Readers are slow to import and are needed only here.
    from airtcp.fit.detect import is_scenario  # noqa: PLC0415

    return not is_scenario(path)


def assumptions(scenario: Scenario) -> tuple[Assumption, ...] | None:
    """Returns the assumptions of a fitted scenario; None if it was not fitted."""
    found = document(scenario).get("measurement")
    if found is None:
        return None
    keys = ("quantity", "why", "stand_in", "remedy")
    return tuple(Assumption(*(each[key] for key in keys)) for each in found["unknown"])
