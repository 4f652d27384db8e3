"""How results look: as text, in a notebook, as figures, as a page. Called through `airtcp.results.shown`.

Each module is loaded when needed, because Matplotlib is slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airtcp.results.shown import Format
    from airtcp.showing.report import Page


def text(found: object) -> str:
    """Returns the text for a terminal."""
    from airtcp.showing.terminal import text_of  # noqa: PLC0415

    return text_of(found)


def html(found: object) -> str:
    """Returns the HTML for a notebook."""
    from airtcp.showing.notebook import html_of  # noqa: PLC0415

    return html_of(found)


def plot(found: object, name: str | None, beside: Sequence[object], **options: Any) -> Figure:
    """Raises ValueError, which lists the available figures."""
    from airtcp.showing.figures import draw, figures_of, overlaid  # noqa: PLC0415

    return draw(overlaid([found, *beside]) if beside else figures_of(found), name, **options)


def save_figures(found: object, folder: Path, formats: Sequence[Format]) -> list[Path]:
    """Writes each figure in these formats; returns the paths. Raises OSError."""
    from airtcp.showing.figures import figures_of, save_all  # noqa: PLC0415

    return save_all(figures_of(found), folder, formats)


def page(found: object, command: str | None) -> Page:
    """Raises ValueError if nothing has run."""
    from airtcp.showing.pages import page_of  # noqa: PLC0415

    return page_of(found, command)
