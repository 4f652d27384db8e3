"""The one door from a result to what shows it: nothing else below `airtcp.showing` knows of that."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from types import ModuleType

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airtcp.showing.report import Page

Format = Literal["png", "svg", "pdf"]
"""Of figures in files."""


class Shown:
    """A result that shows itself: in a terminal, in a notebook, as figures, as a page."""

    def plot(
        self,
        name: str | None = None,
        *,
        schemes: Sequence[str] | None = None,
        time: tuple[float, float] | None = None,
        size: tuple[float, float] | None = None,
        ax: Axes | None = None,
        beside: Sequence[Shown] = (),
    ) -> Figure:
        """The figure called `name`; without a name, the main one.

        `schemes` are those that it shows, `time` is the stretch of a figure over time, in seconds, and `size`
        its width and height in inches. With `ax`, it is drawn there: several can share a figure of yours.
        Other runs or comparisons stand `beside` this one in a figure over time, on common axes; a scheme that
        is there already has the result's number behind its name.
        Raises ValueError, which lists the figures that there are.
        """
        options = {"schemes": schemes, "time": time, "size": size, "axes": ax}
        given = {option: value for option, value in options.items() if value is not None}
        drawn: Figure = _showing().plot(self, name, beside, **given)
        return drawn

    def save_figures(
        self, directory: str | PathLike[str], formats: Sequence[Format] = ("png", "svg")
    ) -> list[Path]:
        """Every figure as `png`, `svg` or `pdf`, with its fonts; answers where they are. Raises OSError."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        written: list[Path] = _showing().save_figures(self, folder, formats)
        return written

    def report(self, path: str | PathLike[str], command: str | None = None) -> Path:
        """Write one page with interactive figures that opens offline; `command` reproduces it.

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
