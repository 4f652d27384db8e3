"""The command-line reference, generated from the commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from markdown import code, paragraph, table

from airtcp.cli.app import app, load

HEAD = """# Command line

Every command answers `--help`. Exit status: 0 done, 1 it did not come out, 2 bad input, 130 interrupted.
"""


def command_line_page() -> str:
    """Returns every command, group by group, as `--help` shows it."""
    root = typer.main.get_command(app)
    commands = {name: load(name) for name in root.commands}
    return "\n".join([HEAD, *_sections(commands, "airtcp")])


def _sections(commands: dict[str, Any], path: str) -> Iterator[str]:
    for name, command in commands.items():
        if command.hidden:
            continue
        yield _section(command, f"{path} {name}")
        if hasattr(command, "commands"):
            yield from _sections(command.commands, f"{path} {name}")


def _section(command: Any, path: str) -> str:
    context = command.make_context(path, [], resilient_parsing=True)
    with context:
        usage = command.get_usage(context).removeprefix("Usage: ")
        records = [parameter.get_help_record(context) for parameter in command.params]
    heading = "#" * min(len(path.split()), 4)
    parts = [f"{heading} {path}", f"```text\n{usage}\n```", paragraph(_clean(command.help or ""))]
    if shown := [(code(name), paragraph(help_text)) for name, help_text in filter(None, records)]:
        parts.append(table(["", ""], shown))
    if command.epilog:
        parts.append("```text\n" + _clean(command.epilog) + "\n```")
    return "\n\n".join(part for part in parts if part) + "\n"


def _clean(text: str) -> str:
    return text.replace("\b", "").strip()
