"""The consoles on which commands print."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from airtcp.cli.errors import writing

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH = 160
"""Width without a terminal."""


def plain_console(*, stderr: bool = False) -> Console:
    """Returns a console with colours and the terminal's width on a terminal, but plain in a pipe or a
    file."""
    from rich.console import Console  # noqa: PLC0415 a command's help needs none

    console = Console(stderr=stderr, highlight=False, emoji=False, markup=False, soft_wrap=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PLAIN_WIDTH
    return console


def write_json(value: object, where: str | None) -> None:
    """Writes `value` as `--json` asks: to a file, to standard output for `-`, or nowhere."""
    if where is None:
        return
    # The records' types take long to load, and most commands write no JSON.
    from airtcp.results.document import to_json  # noqa: PLC0415

    text = to_json(value)
    if where == "-":
        sys.stdout.write(text)
    else:
        with writing(where):
            Path(where).write_text(text, encoding="utf-8")
