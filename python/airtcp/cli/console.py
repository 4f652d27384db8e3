"""Where commands print."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rich.console import Console

from airtcp.cli.errors import writing
from airtcp.running.progress import progress_bar, watched

__all__ = ["plain_console", "progress_bar", "watched", "write_json"]

PLAIN_WIDTH = 160
"""Where there is no terminal to fit."""


def plain_console(*, stderr: bool = False) -> Console:
    """Colours and the terminal's width where a person watches; neither in a pipe or a file."""
    console = Console(stderr=stderr, highlight=False, emoji=False, markup=False, soft_wrap=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PLAIN_WIDTH
    return console


def write_json(text: str, where: str | None) -> None:
    """What `--json` asks for: a file, `-` for standard output, or nothing."""
    if where == "-":
        sys.stdout.write(text)
    elif where is not None:
        with writing(where):
            Path(where).write_text(text, encoding="utf-8")
