"""`airtcp schemes`, `airtcp profiles` and `airtcp schema`."""

from __future__ import annotations

import json as json_module
import textwrap
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any

import typer

from airtcp import _engine
from airtcp.advise.deployment import QUEUES
from airtcp.cli.console import plain_console
from airtcp.cli.given import check_one_of
from airtcp.facts.catalogue import KeyInfo, SchemeInfo

SCHEMES_EXAMPLES = """\b
Examples:
  airtcp schemes
  airtcp schemes --keys
  airtcp schemes --json
"""
PROFILES_EXAMPLES = """\b
Example:
  airtcp profiles
"""
SCHEMA_EXAMPLES = """\b
Examples:
  airtcp schema > scenario.schema.json
  airtcp schema --results > results.schema.json
"""

WRITTEN = (
    "A scheme is a name, optionally with settings: reno:recovery=newreno:rto.min=1s. A setting is a "
    "parameter of the scheme, a stack key (`airtcp schemes --keys`), or a profile (`airtcp profiles`). Join "
    "names with + to combine them: westwood+eifel, cubic+decoupling. After an @, name a queue to replace the "
    f"one in front of the wireless link ({', '.join(QUEUES)}): bbr @ fq-codel."
)

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]


def schemes_command(
    keys: Annotated[bool, typer.Option("--keys", help="List the stack keys that a scheme can set.")] = False,
    json: JsonOption = False,
) -> None:
    """List the schemes with their descriptions, sources and parameters."""
    if keys:
        stack = _engine.scheme_keys()
        _print([_key_entry(key) for key in stack], stack, json)
    elif json:
        _print_json(_engine.schemes())
    else:
        _print_schemes(_engine.schemes())


def profiles_command(json: JsonOption = False) -> None:
    """List the TCP stack profiles: the behaviour of each era's stack."""
    profiles = _engine.profiles()
    entries = [_Entry(profile["name"], [profile["summary"]]) for profile in profiles]
    _print(entries, profiles, json)


def schema_command(
    context: typer.Context,
    results: Annotated[
        bool, typer.Option("--results", help="Print the schema of results.json instead.")
    ] = False,
    both: Annotated[
        bool, typer.Option("--both", help="Print the schema of results.json from `--on both`.")
    ] = False,
    papers: Annotated[
        bool, typer.Option("--papers", help="Print the schema of `airtcp paper` results.")
    ] = False,
    cross: Annotated[
        bool, typer.Option("--cross", help="Print the schema of `airtcp paper cross` results.")
    ] = False,
    fit: Annotated[bool, typer.Option("--fit", help="Print the schema of `airtcp fit --json`.")] = False,
    advice: Annotated[
        bool, typer.Option("--advice", help="Print the schema of `airtcp advise` results.")
    ] = False,
) -> None:
    """Print the JSON Schema of the scenario file."""
    asked = {
        "results": results,
        "both": both,
        "papers": papers,
        "cross": cross,
        "fit": fit,
        "advice": advice,
    }
    check_one_of(context, list(asked))
    name = next((name for name, wanted in asked.items() if wanted), None)
    _print_json(_schema(name) if name else json_module.loads(_engine.schema()))


_SCHEMAS = {
    "results": "airtcp.results:results_schema",
    "both": "airtcp.results.side_by_side:both_schema",
    "papers": "airtcp_studies.frame.document:paper_results_schema",
    "cross": "airtcp_studies.cross:cross_schema",
    "fit": "airtcp.fit.document:fit_schema",
    "advice": "airtcp.advise.advice:advice_schema",
}
"""Each schema is derived from the result types, which are slow to import."""


def _schema(name: str) -> Any:
    module, function = _SCHEMAS[name].split(":")
    return getattr(import_module(module), function)()


@dataclass(frozen=True)
class _Entry:
    name: str
    lines: list[str]


PARTS = {
    "congestion control": "Congestion controls",
    "keys of the stack": "Named groups of stack keys",
    "circuit": "TCP circuits that carry the flow's data",
    "base station": "Machines at the base station, in front of the wireless link",
}


def _print_schemes(schemes: list[SchemeInfo]) -> None:
    margin = max(len(scheme["name"]) for scheme in schemes) + 2
    for part, title in PARTS.items():
        print(f"{title}:\n")
        _print_entries([_scheme_entry(scheme) for scheme in schemes if scheme["part"] == part], margin)
        print()
    print(textwrap.fill(WRITTEN, _width()))


def _scheme_entry(scheme: SchemeInfo) -> _Entry:
    lines = [f"{scheme['summary']} ({scheme['source']})"]
    lines += [
        f"{param['name']} = {param['default']:g} [{param['min']:g} to {param['max']:g}]: {param['doc']}"
        for param in scheme["params"]
    ]
    lines += [f"{_with_default(key)}: {_key_text(key)}" for key in scheme["keys"]]
    if scheme["changes"]:
        verb = "is" if scheme["part"] == "keys of the stack" else "sets"
        lines.append(f"{verb} " + ":".join(f"{key}={value}" for key, value in scheme["changes"].items()))
    return _Entry(scheme["name"], lines)


def _key_entry(key: KeyInfo) -> _Entry:
    return _Entry(key["name"], [_key_text(key)])


def _with_default(key: KeyInfo) -> str:
    return key["name"] if key["default"] is None else f"{key['name']} = {key['default']}"


def _key_text(key: KeyInfo) -> str:
    allowed = f" One of: {', '.join(key['allowed'])}." if key["allowed"] else ""
    # A default already shows how the value is written.
    example = f" E.g. {key['example']}." if key["example"] and key["default"] is None else ""
    return f"{key['doc']}{allowed}{example}"


def _print(entries: list[_Entry], data: Any, json: bool) -> None:
    if json:
        _print_json(data)
    else:
        _print_entries(entries, max(len(entry.name) for entry in entries) + 2)


def _print_json(data: Any) -> None:
    print(json_module.dumps(data, indent=2, ensure_ascii=False))


def _print_entries(entries: list[_Entry], margin: int) -> None:
    for entry in entries:
        for number, line in enumerate(entry.lines):
            first = entry.name.ljust(margin) if number == 0 else " " * margin
            further = " " * (margin + (2 if number else 0))
            print(textwrap.fill(line, _width(), initial_indent=first, subsequent_indent=further))


def _width() -> int:
    return min(plain_console().width, 110)
