"""Typed access to the values of an arbitrary JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airtcp.fit.rows import finite

Json = Mapping[str, Any]


class Repeated(list[Any]):
    """The different values of a key that stands more than once in one object: neither is the key's."""


def number(part: Json, key: str, *, least: float = 0.0, most: float = 1e15) -> float | None:
    """Returns a finite number from `least` to `most`; otherwise None."""
    value = part.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    found = finite(value)
    return found if found is not None and least <= found <= most else None


def object_of(part: Json, key: str) -> Json:
    value = part.get(key)
    return value if isinstance(value, dict) else {}


def objects_of(part: Json, key: str) -> list[Json]:
    value = part.get(key)
    if not isinstance(value, list) or isinstance(value, Repeated):
        return []
    return [item for item in value if isinstance(item, dict)]
