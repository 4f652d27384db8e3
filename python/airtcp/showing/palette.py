"""The colours, dashes and marks of all figures, on paper and on screen.

Okabe and Ito's palette (2008), which colour-blind readers can tell apart, without the yellow that vanishes on
white; orange and sky blue are darker, so that each stands out from white by 3:1 (WCAG 2.2, success criterion
1.4.11). On dark ground the same hues are lighter. A dash or a mark always says it a second time.
"""

from __future__ import annotations

from typing import Literal

LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B87F00", "#2F8FC4", "#000000")
DARK = ("#4FA8E0", "#FF8A3D", "#2CC295", "#E39AC4", "#F0B429", "#8FD0F5", "#F2F2F2")

Dash = Literal["solid", "longdash", "dot", "dashdot"]
DASHES: tuple[Dash, ...] = ("solid", "longdash", "dot", "dashdot")
"""By turns of the palette."""

MARKS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "pentagon", "cross")
"""As Plotly calls them; `figures.style` has Matplotlib's letters for the same."""
