"""The one door from a result to what shows it: nothing else below `airtcp.showing` knows of that."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from matplotlib.figure import Figure

    from airtcp.showing.report import Page


class Shown:
    """A result that shows itself: in a terminal, in a notebook, as figures, as a page."""

    def plot(self, name: str | None = None) -> Figure:
        """The figure called `name`; without a name, the main one.

        Raises ValueError, which lists the figures that there are.
        """
        drawn: Figure = _showing().plot(self, name)
        return drawn

    def save_figures(self, directory: str | PathLike[str]) -> list[Path]:
        """Every figure as PNG and SVG; answers where they are. Raises OSError."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        written: list[Path] = _showing().save_figures(self, folder)
        return written

    def report(self, path: str | PathLike[str], command: str | None = None) -> Path:
        """Writes one page with interactive figures that opens offline; `command` is the one that repeats it.

        Raises OSError, and ValueError if nothing has run.
        """
        page: Page = _showing().page(self, command)
        return page.write(Path(path))

    def __repr__(self) -> str:
        text: str = _showing().text(self)
        return text

    def _repr_html_(self) -> str:
        html: str = _showing().html(self)
        return html


def _showing() -> ModuleType:
    # What shows results imports them; and only who wants to see one pays for it.
    from airtcp import showing  # noqa: PLC0415

    return showing
