"""Signatures of what is native, with their types: its stub has them, and nothing else of it is Python."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import airtcp

STUB = Path(airtcp.__file__).with_name("_engine.pyi")


def with_types(_app: Any, _what: str, name: str, *rest: Any) -> tuple[str, str] | None:
    """As Sphinx asks for the signature of the object called `name`; None: it stays as it is."""
    *_, signature, answer = rest
    if native := _signatures().get(name.removeprefix("airtcp.").removeprefix("_engine.")):
        return native
    plain = re.sub(r"<function [^,)]*>|Ellipsis", "...", signature or "")
    return None if plain == (signature or "") else (plain, answer)


@cache
def _signatures() -> dict[str, tuple[str, str]]:
    """By name, as `Scenario.load`: arguments, and what it answers. Of several forms, the last."""
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    homes = _homes(tree)
    found: dict[str, tuple[str, str]] = {}
    for owner in [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]:
        prefix = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
        for node in owner.body:
            if isinstance(node, ast.FunctionDef) and not _decorators(node) & {"property", "setter"}:
                found[prefix + node.name] = _signature(node, homes, in_class=bool(prefix))
    return found


def _homes(tree: ast.Module) -> dict[str, str]:
    """Where a name of the stub is documented, or comes from."""
    imported = {
        alias.name: f"{node.module}.{alias.name}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    own = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    return {
        name: f"airtcp.{name}" if name in airtcp.__all__ else imported.get(name, f"airtcp._engine.{name}")
        for name in [*imported, *own]
    }


class _Qualified(ast.NodeTransformer):
    """Names as Sphinx finds them; a tilde has it show the last part."""

    def __init__(self, homes: dict[str, str]) -> None:
        self._homes = homes

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(f"~{self._homes[node.id]}") if node.id in self._homes else node


def _signature(node: ast.FunctionDef, homes: dict[str, str], *, in_class: bool) -> tuple[str, str]:
    shown = _Qualified(homes)
    arguments = node.args
    if in_class and "staticmethod" not in _decorators(node):
        named = arguments.posonlyargs or arguments.args
        named.pop(0)
    for each in ast.walk(arguments):
        if isinstance(each, ast.arg) and each.annotation:
            each.annotation = shown.visit(each.annotation)
    answer = ast.unparse(shown.visit(node.returns)) if node.returns else ""
    return f"({ast.unparse(arguments)})", answer


def _decorators(node: ast.FunctionDef) -> set[str]:
    return {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
