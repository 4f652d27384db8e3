"""Writes man pages and completions of `airtcp` from its own commands. usage: manual.py FOLDER"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from airtcp import __version__
from airtcp.cli.app import COMPLETE, app

SHELLS = {"bash": "airtcp.bash", "zsh": "_airtcp", "fish": "airtcp.fish"}


def main(folder: Path) -> None:
    """Fills man1, bash, zsh and fish."""
    command: Any = typer.main.get_command(app)
    pages = folder / "man1"
    pages.mkdir(parents=True, exist_ok=True)
    for name, page in pages_of(command, "airtcp"):
        (pages / f"{name}.1").write_text(page, encoding="utf-8")
    for shell, file in SHELLS.items():
        place = folder / shell / file
        place.parent.mkdir(exist_ok=True)
        place.write_text(completion(shell), encoding="utf-8")


def pages_of(command: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yields the page of a command, and those of its subcommands: `airtcp-paper`."""
    with command.make_context(name.replace("-", " "), [], parent=None, resilient_parsing=True) as context:
        below = command.list_commands(context) if hasattr(command, "list_commands") else []
        yield name, page(command, context, name, below)
        for word in below:
            _, found, _ = command.resolve_command(context, [word])
            yield from pages_of(found, f"{name}-{word}")


def page(command: Any, context: Any, name: str, below: list[str]) -> str:
    """Returns a page in the man macros of roff (man(7))."""
    said = (command.help or command.short_help or "").strip().split("\n\n")
    lines = [
        f'.TH {name.upper()} 1 "" "airtcp {__version__}" "airtcp"',
        *section("NAME", f"{name} \\- {roff(said[0])}"),
        *section(
            "SYNOPSIS",
            f"\\fB{name.replace('-', ' ')}\\fR {roff(' '.join(command.collect_usage_pieces(context)))}",
        ),
        *section("DESCRIPTION", "\n.PP\n".join(map(roff, said))),
    ]
    records = [record for each in command.get_params(context) if (record := each.get_help_record(context))]
    if records:
        lines += [".SH OPTIONS", *(line for names, text in records for line in item(names, text))]
    if below:
        lines += [".SH COMMANDS"]
        for word in below:
            _, found, _ = command.resolve_command(context, [word])
            lines += item(f"{name}-{word}(1)", found.get_short_help_str(limit=200))
    if command.epilog:
        lines += [".SH EXAMPLES", ".nf", *map(roff, examples(command.epilog)), ".fi"]
    return "\n".join(lines) + "\n"


def section(title: str, text: str) -> list[str]:
    """A heading and its text."""
    return [f".SH {title}", text]


def item(names: str, text: str) -> list[str]:
    """An option and its description."""
    return [".TP", f"\\fB{roff(names)}\\fR", roff(" ".join(text.split())) or "\\&"]


def examples(epilog: str) -> list[str]:
    """Removes the heading, and the marks that keep Click from filling lines."""
    return [line for line in epilog.replace("\b", "").strip().splitlines() if line != "Examples:"]


def roff(text: str) -> str:
    """Escapes text, so that none of it is taken for a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("\n", " ")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def completion(shell: str) -> str:
    """Returns Click's completion script for a shell."""
    program = Path(sys.executable).with_name("airtcp")
    told = {**os.environ, COMPLETE: f"source_{shell}"}
    return subprocess.run([program], env=told, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
