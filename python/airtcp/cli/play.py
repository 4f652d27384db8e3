"""`airtcp play`."""

from __future__ import annotations

import shutil
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.errors import InputError
from airtcp.cli.given import named_for
from airtcp.facts.files import PLAYGROUND
from airtcp.play import NotBuiltError, page

EXAMPLES = """\b
Examples:
  airtcp play
  airtcp play --out playground.html
"""


def command(
    out: Annotated[
        Path | None,
        typer.Option(
            callback=named_for("--out", PLAYGROUND),
            metavar="FILE",
            help="Write the page to FILE instead of opening it.",
        ),
    ] = None,
) -> None:
    """Open the playground: the simulator as one web page, which needs no network.

    Packets cross the link before your eyes, in slow motion if you like; change the link, and all figures
    follow. The page's numbers are those of `airtcp compare` for the same scenario and seeds.
    """
    try:
        found = page()
    except NotBuiltError as error:
        raise InputError(str(error)) from error
    if out:
        try:
            shutil.copyfile(found, out)
        except OSError as error:
            raise InputError(f"--out {out}: {error.strerror}") from error
        typer.echo(f"The playground is in {out}")
    elif webbrowser.open(found.as_uri()):
        typer.echo(f"Opened {found}")
    else:
        typer.echo(f"No browser found. Open this file in one: {found}")
