"""What `help()` and a notebook say of the native engine is what its stub says, which is its documentation."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from airtcp import _engine

STUB = Path(__file__).parents[2] / "python/airtcp/_engine.pyi"


def documented(body: list[ast.stmt], path: str = "") -> Iterator[tuple[str, str]]:
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            if text := ast.get_docstring(node):
                yield path + node.name, text
            if isinstance(node, ast.ClassDef):
                yield from documented(node.body, f"{path}{node.name}.")


@pytest.mark.parametrize(("name", "text"), [*documented(ast.parse(STUB.read_text(encoding="utf-8")).body)])
def test_the_engine_says_of_itself_what_its_stub_says(name: str, text: str) -> None:
    item: object = _engine
    for part in name.split("."):
        item = inspect.getattr_static(item, part) if inspect.isclass(item) else getattr(item, part)
    item = item.__func__ if isinstance(item, staticmethod | classmethod) else item
    assert " ".join((inspect.getdoc(item) or "").split()) == " ".join(text.split())
