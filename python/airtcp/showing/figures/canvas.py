"""What a caller wants of a figure that Matplotlib lays out, beside its contents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airtcp.showing.figures.layout import BOTTOM_IN, Labels, Size, legend_labels, size_of
from airtcp.showing.figures.style import figure


@dataclass(frozen=True)
class Canvas:
    """Where to draw, and what. Without `size` a figure is as high as its contents need."""

    size: Size | None = None
    """Width and height in inches."""
    axes: Axes | None = None
    """The caller's own, for a figure that has one pair of axes."""
    schemes: Sequence[str] | None = None
    """Those shown; None for all."""

    def shows(self, scheme: str) -> bool:
        return self.schemes is None or scheme in self.schemes

    def whole(self, height_in: float) -> Figure:
        """Returns a new figure. Raises ValueError if it is to be drawn in the caller's axes."""
        if self.axes is not None:
            raise ValueError("this figure has several panels and needs the whole figure: omit `ax`")
        return figure(size_of(self.size, height_in))

    def single(self, height_in: float) -> tuple[Figure, Axes]:
        """Returns the axes and their figure."""
        if self.axes is not None:
            return self.axes.figure.figure, self.axes
        drawn = self.whole(height_in)
        return drawn, drawn.subplots()

    def labels(self, drawn: Figure, texts: Sequence[str]) -> Labels:
        """Returns the labels of a legend beside the axes, for which the figure grows if it may."""
        width, height = drawn.get_size_inches()
        is_fixed = self.size is not None or self.axes is not None
        labels, needed_in = legend_labels(texts, width, height - BOTTOM_IN if is_fixed else None)
        if not is_fixed:
            drawn.set_figheight(max(height, needed_in + BOTTOM_IN))
        return labels


def legend_beside(axes: Axes, order: Sequence[str], canvas: Canvas | None = None) -> None:
    """Puts the legend to the right of the axes, with labels in this order."""
    handles, labels = axes.get_legend_handles_labels()
    by_label = dict(zip(labels, handles, strict=True))
    shown = (canvas or Canvas()).labels(axes.figure.figure, order)
    ordered = [by_label[label] for label in order]
    axes.legend(ordered, shown.texts, fontsize=shown.font_pt, loc="upper left", bbox_to_anchor=(1, 1))
