"""The only access from results to the modules that show them: nothing else below `airtcp.showing` refers to
it."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from airtcp.facts.files import REPORT

if TYPE_CHECKING:
    from types import ModuleType

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from airtcp.showing.report import Page

Format = Literal["png", "svg", "pdf"]
"""File formats of figures."""
USUAL_FORMATS: tuple[Format, ...] = ("png", "svg")
LEAST_IN, MOST_IN = 1.0, 200.0
"""Bounds of a figure's width and height."""


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
        figures, or says which option does not apply to the figure.
        """
        if size is not None:
            _check_size(size)
        options = {"schemes": schemes, "time": time, "size": size, "axes": ax}
        given = {option: value for option, value in options.items() if value is not None}
        drawn: Figure = _showing().plot(self, name, beside, **given)
        return drawn

    def save_figures(
        self, directory: str | PathLike[str], formats: Sequence[Format] = USUAL_FORMATS
    ) -> list[Path]:
        """Write every figure as `png`, `svg` or `pdf` with embedded fonts; returns the paths.

        Raises OSError, and ValueError for another format.
        """
        _check_formats(formats)
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        written: list[Path] = _showing().save_figures(self, folder, formats)
        return written

    def report(self, path: str | PathLike[str], command: str | None = None) -> Path:
        """Write one page with interactive figures that opens offline; `command` reproduces it.

        Raises OSError, and ValueError if nothing has run, or if `path` does not end in `.html`.
        """
        REPORT.check(path)
        page: Page = _showing().page(self, command)
        return page.write(Path(path))

    def __repr__(self) -> str:
        text: str = _showing().text(self)
        return text

    def _repr_html_(self) -> str:
        html: str = _showing().html(self)
        return html


def _check_size(size: tuple[float, float]) -> None:
    """Raises ValueError."""
    if len(size) != 2 or not all(LEAST_IN <= side <= MOST_IN for side in size):
        raise ValueError(
            f"size={size}: give width and height in inches, each from {LEAST_IN:g} to {MOST_IN:g}, "
            "e.g. (6.8, 3)"
        )


def _check_formats(formats: Sequence[str]) -> None:
    """Raises ValueError; for a bare string, which would count as one format per letter, as well."""
    known = get_args(Format)
    wrong = [formats] if isinstance(formats, str) else [name for name in formats if name not in known]
    if wrong:
        raise ValueError(f'formats: unknown "{wrong[0]}"; give a list of {", ".join(known)}, e.g. ["pdf"]')


def _showing() -> ModuleType:
    # The modules that show results import them, and are slow to load.
    from airtcp import showing  # noqa: PLC0415

    return showing
