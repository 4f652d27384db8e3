"""Packs scenarios for other processes, with the code of users' controllers."""

from __future__ import annotations

import inspect
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from airtcp._engine import Scenario


@dataclass(frozen=True)
class Parcel:
    """A scenario that is packed once, however often it is sent, and unpacked once per process."""

    content: bytes

    @property
    def scenario(self) -> Scenario:
        return _unpacked(self.content)


def packed(scenario: Scenario) -> Parcel:
    """Packs a scenario with its controllers' code: another machine lacks their files."""
    if not scenario.controllers:
        return Parcel(pickle.dumps(scenario))
    import cloudpickle  # noqa: PLC0415 few need it

    with _by_value({controller.__module__ for controller in scenario.controllers}):
        return Parcel(cloudpickle.dumps(scenario))


def code_of(scenario: Scenario) -> dict[str, str]:
    """Returns the source code of the scenario's controllers, by name, as far as Python has it."""
    return {controller.name: _code(controller) for controller in scenario.controllers}


@lru_cache(maxsize=8)
def _unpacked(content: bytes) -> Scenario:
    return cast(Scenario, pickle.loads(content))


@contextmanager
def _by_value(modules: set[str]) -> Iterator[None]:
    import cloudpickle  # noqa: PLC0415

    # Code in __main__ is sent by value anyway.
    found = [sys.modules[name] for name in sorted(modules - {"__main__"}) if name in sys.modules]
    for module in found:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in found:
            cloudpickle.unregister_pickle_by_value(module)


def _code(controller: type) -> str:
    module = sys.modules.get(controller.__module__)
    # A file also defines what the class uses; a script has side effects.
    whole = module is not None and controller.__module__ != "__main__"
    try:
        return inspect.getsource(module if whole and module else controller)
    except (OSError, TypeError):
        return ""
