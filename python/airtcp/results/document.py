"""The contents of results.json, and its JSON Schema, which is derived from the types and so stays current."""

from __future__ import annotations

import json
import math
import tomllib
import types
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NotRequired,
    TypedDict,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from airtcp._engine import version
from airtcp.facts.assumption import Assumption
from airtcp.facts.failure import Failure
from airtcp.facts.hooks import HookNotRun
from airtcp.facts.records import Run
from airtcp.facts.scenario import seeds_of
from airtcp.facts.stats import CONFIDENCE
from airtcp.facts.summary import SchemeSummary, objective
from airtcp.facts.verdict import Verdict
from airtcp.linux.forms import LeftOut
from airtcp.linux.host import Host

if TYPE_CHECKING:
    from airtcp.results.comparison import Comparison


class Results(TypedDict):
    """The results of a comparison. Times are in seconds, rates in bit/s, unless a name says otherwise."""

    format: Literal[1]
    airtcp: str
    command: str | None
    interrupted: bool
    confidence: float
    objective: Literal["goodput", "completion time"]
    scenario: dict[str, Any]
    seeds: list[int]
    verdict: Verdict | None
    schemes: list[SchemeSummary]
    runs: list[Run]
    failures: list[Failure]
    fitted: tuple[Assumption, ...] | None
    backend: Literal["sim", "linux"]
    host: Host | None
    left_out: tuple[LeftOut, ...]
    placement: list[str]
    hooks_not_run: tuple[HookNotRun, ...]


def results(found: Comparison, command: str | None) -> Results:
    """`command` repeats the comparison; None if it was made in Python."""
    return {
        "format": 1,
        "airtcp": version(),
        "command": command,
        "interrupted": found.interrupted,
        "confidence": CONFIDENCE,
        "objective": objective(found.runs).name,
        "scenario": tomllib.loads(found.scenario.to_toml()),
        "seeds": seeds_of(found.scenario),
        "verdict": found.verdict,
        "schemes": found.summaries,
        "runs": found.runs,
        "failures": found.failures,
        "fitted": found.fitted,
        "backend": found.backend,
        "host": found.host,
        "left_out": found.left_out,
        "placement": found.placement,
        "hooks_not_run": found.hooks_not_run,
    }


def to_json(value: object) -> str:
    return json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def results_schema() -> dict[str, Any]:
    return schema_of(Results)


def schema_of(kind: Any) -> dict[str, Any]:
    """Returns the JSON Schema of a typed dictionary or data class, as `to_json` writes it."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_schema(kind)}


def plain(value: Any) -> Any:
    """Returns plain JSON values: no NaN, no data classes."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


_SCALARS: dict[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    # NaN is written as null.
    float: {"type": ["number", "null"]},
    str: {"type": "string"},
    type(None): {"type": "null"},
}


def _schema(kind: Any) -> dict[str, Any]:
    if kind in _SCALARS:
        return _SCALARS[kind]
    if is_typeddict(kind) or is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        return {
            "type": "object",
            "description": kind.__doc__,
            "properties": {name: _schema(hint) for name, hint in get_type_hints(kind).items()},
            "required": [name for name, hint in hints.items() if get_origin(hint) is not NotRequired],
            "additionalProperties": False,
        }
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is types.UnionType:
        return {"anyOf": [_schema(option) for option in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    return _array(origin, arguments) if origin in (list, tuple) else {"type": "object"}


def _array(origin: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
    """A tuple of variable length is written `tuple[X, ...]`."""
    if origin is list or arguments[-1] is Ellipsis:
        return {"type": "array", "items": _schema(arguments[0])}
    return {"type": "array", "prefixItems": [_schema(each) for each in arguments], "items": False}
