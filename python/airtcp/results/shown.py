"""The only access from results to the modules that show them: nothing else below `airtcp.showing` refers to
it."""

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
"""File formats of figures."""


class Shown:
    """A result that can show itself: in a terminal, in a notebook, as figures, as a page."""

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
        """Return the figure called `name`, or the main one.

        `schemes` selects those shown, `time` the interval of a figure over time, in seconds; `size` is the
        width and height in inches. With `ax` it is drawn there, so that several can share a figure of yours.
        A figure over time shows the runs or comparisons in `beside` too, on common axes; a scheme that
        appears twice gets the result's number after its name. Raises ValueError, which lists the available
        figures.
        """
        options = {"schemes": schemes, "time": time, "size": size, "axes": ax}
        given = {option: value for option, value in options.items() if value is not None}
        drawn: Figure = _showing().plot(self, name, beside, **given)
        return drawn

    def save_figures(
        self, directory: str | PathLike[str], formats: Sequence[Format] = ("png", "svg")
    ) -> list[Path]:
        """Write every figure as `png`, `svg` or `pdf` with embedded fonts; returns the paths. Raises
        OSError."""
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
    # The modules that show results import them, and are slow to load.
    from airtcp import showing  # noqa: PLC0415

    return showing
