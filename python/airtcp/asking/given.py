"""What stands for a scenario where one is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from airtcp._engine import Scenario
from airtcp.control import CongestionControl
from airtcp.facts.assumption import Assumption
from airtcp.facts.scenario import document

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
        raise TypeError(f"schemes must be a list, e.g. [{one}]")
    return None if schemes is None else list(schemes)


def is_measurement(path: Path) -> bool:
    """Is it a file that neither is called nor looks like a scenario?"""
    if path.suffix == ".toml" or not path.is_file():
        return False
    # Readers take time to import, and only this needs them.
    from airtcp.fit.detect import is_scenario  # noqa: PLC0415

    return not is_scenario(path)


def assumptions(scenario: Scenario) -> tuple[Assumption, ...] | None:
    """None where it was fitted to nothing."""
    found = document(scenario).get("measurement")
    if found is None:
        return None
    keys = ("quantity", "why", "stand_in", "remedy")
    return tuple(Assumption(*(each[key] for key in keys)) for each in found["unknown"])
