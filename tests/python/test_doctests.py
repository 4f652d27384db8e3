"""What the documentation of the public interface shows is what comes out."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import airtcp

STUB = Path(airtcp.__file__).with_name("_engine.pyi")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def public_modules() -> list[ModuleType]:
    """Those in which what `airtcp` exports is written."""
    exported = [getattr(airtcp, name) for name in airtcp.__all__]
    homes = {thing.__module__ for thing in exported if inspect.isclass(thing) or inspect.isfunction(thing)}
    return [importlib.import_module(name) for name in sorted(homes - {"airtcp._engine"})]


@pytest.mark.parametrize("module", [airtcp, *public_modules()], ids=lambda module: module.__name__)
def test_examples_of(module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(module, optionflags=OPTIONS).failed == 0


def test_examples_of_the_engine() -> None:
    """They stand in its stub, which is its documentation."""
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for path, text in stub_docs():
        runner.run(doctest.DocTestParser().get_doctest(text, {}, path, str(STUB), None))
    assert runner.tries > 0
    assert runner.failures == 0


def stub_docs() -> Iterator[tuple[str, str]]:
    """What is documented in the stub, by its path."""
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            inside = node.body if isinstance(node, ast.ClassDef) else []
            for prefix, each in [("", node), *((f"{node.name}.", member) for member in inside)]:
                if isinstance(each, ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(each)):
                    yield prefix + each.name, text


@pytest.mark.parametrize("name", airtcp.__all__)
def test_everything_public_is_documented(name: str) -> None:
    thing = getattr(airtcp, name)
    if thing.__module__ == "airtcp._engine":
        return
    assert inspect.getdoc(thing), name
    if inspect.isclass(thing):
        methods = {key: value for key, value in vars(thing).items() if inspect.isfunction(value)}
        bare = [key for key, value in methods.items() if not key.startswith("_") and not value.__doc__]
        assert bare == []
