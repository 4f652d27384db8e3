"""The commands that the README and the guide show exist, and their scenarios can be read."""

from __future__ import annotations

import re
import shlex
import textwrap
from pathlib import Path
from typing import Any

import pytest

import airtcp
from airtcp.cli.app import load

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs/index.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
BEFORE = r"(?:\$ )?(?:sudo )?(?:\.venv/bin/)?airtcp "
LINE = re.compile(rf"^ {{4,}}{BEFORE}(.+)$", re.MULTILINE)
INLINE = re.compile(rf"`{BEFORE}([^`]+)`")
SCENARIO = re.compile(r"^```toml\n([^`]+)^```|^( {4}schemes = .+\n(?:(?: {4}.*)?\n)+)", re.MULTILINE)
REST_OF_LINE = re.compile(r"\s(?:[|>&;#]|\d?>).*", re.DOTALL)


def shown(page: Path) -> list[str]:
    """The commands on a page; `…` stands for anything."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    found = [*LINE.findall(text), *(" ".join(each.split()) for each in INLINE.findall(text))]
    return [REST_OF_LINE.sub("", line) for line in found]


def read(command: Any, words: list[str]) -> None:
    """Reads the words, and runs nothing. A sentence may leave out arguments, the last option's value too."""
    context = command.context_class(command)
    if not hasattr(command, "commands"):
        command.make_parser(context).parse_args([*words, "?"])
    elif words and not words[0].startswith("-"):
        command.parse_args(context, words)
        _, found, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        read(found, rest)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_command_that_is_shown_exists(page: Path) -> None:
    for line in shown(page):
        # Of a command within quotes the last one is left.
        name, *words = shlex.split(line.removesuffix("'") if line.count("'") % 2 else line)
        read(load(name), words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_scenario_that_is_shown_can_be_read(page: Path, tmp_path: Path) -> None:
    for fenced, indented in SCENARIO.findall(page.read_text(encoding="utf-8")):
        path = tmp_path / "shown.toml"
        path.write_text(fenced or textwrap.dedent(indented), encoding="utf-8")
        airtcp.Scenario.load(path)


@pytest.mark.parametrize("line", ["schemas", "compare --sedes 3", "model matt --per 0.01"])
def test_a_command_that_does_not_exist_is_seen(line: str) -> None:
    name, *words = line.split()
    with pytest.raises(Exception, match=r"schemas|matt|--sedes"):
        read(load(name), words)
