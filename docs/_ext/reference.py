"""Sphinx extension: the reference pages generated from the program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from clause_list import clauses_page
from command_line import command_line_page
from notebooks import notebook_page
from program_list import programs_page
from scenario_file import scenario_file_page
from scheme_list import profiles_page, schemes_page
from sphinx.application import Sphinx

PAGES: dict[str, Callable[[], str]] = {
    "command-line": command_line_page,
    "scenario-file": scenario_file_page,
    "schemes": schemes_page,
    "profiles": profiles_page,
    "clauses": clauses_page,
    "programs": programs_page,
    **{f"notebook-{number}": partial(notebook_page, number) for number in (1, 2, 3)},
}


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_pages(app: Sphinx) -> None:
    """Leaves unchanged pages alone: Sphinx rereads only newer ones."""
    folder = Path(app.srcdir) / "reference" / "generated"
    folder.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        path, text = folder / f"{name}.md", page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
