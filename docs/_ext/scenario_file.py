"""The scenario file's reference, from its JSON Schema."""

from __future__ import annotations

import json
from typing import Any

from markdown import code, paragraph, table

import airtcp

HEAD = """# Scenario file

A scenario is TOML. `airtcp schema` prints the JSON Schema from which this page is made: editors with TOML
support complete and check with it. Tables stand in the order in which one meets them.
"""

QUANTITIES = ["Bytes", "Duration", "Positive", "Probability", "Rate"]


def scenario_file_page() -> str:
    """Returns every table with its keys, every word that a key may be, every unit."""
    schema = json.loads(airtcp.schema())
    tables = [_section("The file", schema)]
    tables += [_section(name, schema["$defs"][name]) for name in _in_order_met(schema)]
    units = "## Quantities\n\n" + table(
        ["quantity", "how it is written"],
        [(_anchor(name), paragraph(schema["$defs"][name]["description"])) for name in QUANTITIES],
    )
    return "\n".join([HEAD, *tables, units])


def _in_order_met(schema: dict[str, Any]) -> list[str]:
    met: list[str] = []
    todo = [schema]
    while todo:
        for name in _named_in(todo.pop(0)):
            if name not in met and name not in QUANTITIES:
                met.append(name)
                todo.append(schema["$defs"][name])
    return met


def _named_in(part: Any) -> list[str]:
    if isinstance(part, list):
        return [name for item in part for name in _named_in(item)]
    if not isinstance(part, dict):
        return []
    here = [part["$ref"].rsplit("/", 1)[1]] if "$ref" in part else []
    return here + [name for key, item in part.items() if key != "$defs" for name in _named_in(item)]


def _section(name: str, schema: dict[str, Any]) -> str:
    parts = [f"## {name}", paragraph(schema.get("description", ""))]
    if properties := schema.get("properties"):
        required = schema.get("required", [])
        rows = [_row(key, of_key, key in required) for key, of_key in properties.items()]
        parts.append(table(["key", "value", "default", "meaning"], rows))
    if words := schema.get("oneOf"):
        parts.append(
            table(
                ["word", "meaning"],
                [
                    (code(text), paragraph(word.get("description", "")))
                    for word in words
                    for text in _words(word)
                ],
            )
        )
    return "\n\n".join(part for part in parts if part) + "\n"


def _words(schema: dict[str, Any]) -> list[str]:
    return [schema["const"]] if "const" in schema else schema["enum"]


def _row(key: str, schema: dict[str, Any], required: bool) -> tuple[str, str, str, str]:
    default = "required" if required else code(json.dumps(schema["default"])) if "default" in schema else ""
    return code(key), _kind(schema), default, paragraph(schema.get("description", ""))


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return _link(schema["$ref"].rsplit("/", 1)[1])
    if options := schema.get("anyOf"):
        return " or ".join(_kind(option) for option in options)
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}"
    return str(schema.get("type", "any"))


def _link(name: str) -> str:
    return f"[{name}](#{'quantities' if name in QUANTITIES else name.lower()})"


def _anchor(name: str) -> str:
    return f"**{name}**"
