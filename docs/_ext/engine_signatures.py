"""Sphinx extension: signatures of native objects, from the stub, which has the types."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import airtcp

STUB = Path(airtcp.__file__).with_name("_engine.pyi")


def setup(app: Sphinx) -> dict[str, bool]:
    signatures = dict(_signatures(ast.parse(STUB.read_text(encoding="utf-8")).body, ""))

    def signature(_app: Sphinx, _what: str, name: str, obj: Any, *rest: Any) -> tuple[str, str] | None:
        if getattr(obj, "__module__", None) == "airtcp._engine" or _is_builtin(obj):
            return signatures.get(name.removeprefix("airtcp.").removeprefix("_engine."))
        _, given, answer = rest
        # A default that is an anonymous function means nothing to the reader.
        return (given.replace("<function <lambda>>", "..."), answer) if "<lambda>" in (given or "") else None

    app.connect("autodoc-process-signature", signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _is_builtin(obj: object) -> bool:
    return type(obj).__name__ in ("builtin_function_or_method", "method_descriptor", "classmethod_descriptor")


def _signatures(body: list[ast.stmt], owner: str) -> list[tuple[str, tuple[str, str]]]:
    """Returns by qualified name: the arguments without `self`, and the return type."""
    found = []
    for node in body:
        if isinstance(node, ast.ClassDef):
            found += _signatures(node.body, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            name = owner.removesuffix(".") if node.name == "__new__" else f"{owner}{node.name}"
            found.append((name, (f"({_arguments(node, bool(owner))})", _returns(node))))
    return found


def _arguments(node: ast.FunctionDef, is_method: bool) -> str:
    is_static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
    if is_method and not is_static:
        given = node.args
        (given.posonlyargs or given.args).pop(0)
    return ast.unparse(node.args)


def _returns(node: ast.FunctionDef) -> str:
    return ast.unparse(node.returns) if node.returns and node.name != "__new__" else ""
