"""The colours, dashes and marks of all figures, on paper and on screen.

Okabe and Ito's palette (2008), which colour-blind readers can tell apart, without the yellow that vanishes on
white; orange and sky blue are darker, so that each contrasts with white by 3:1 (WCAG 2.2, success criterion
1.4.11). On a dark background the same hues are lighter. A dash or a mark always repeats the distinction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B87F00", "#2F8FC4", "#000000")
DARK = ("#4FA8E0", "#FF8A3D", "#2CC295", "#E39AC4", "#F0B429", "#8FD0F5", "#F2F2F2")

Dash = Literal["solid", "longdash", "dot", "dashdot"]
DASHES: tuple[Dash, ...] = ("solid", "longdash", "dot", "dashdot")
"""Each turn of the palette uses the next dash."""

MARKS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "pentagon", "cross")
"""By Plotly's names; `figures.style` has Matplotlib's letters for them."""

PLACES = len(LIGHT) * len(DASHES)
OWN = (
    *("reno", "cubic", "bbr", "vegas", "westwood", "veno", "hybla"),
    *("newreno", "concord", "bbr3", "spectcp", "westwood-vt", "jersey", "decoupling"),
)
"""Schemes with a fixed place: those compared most have a colour each, and a solid line."""


@dataclass(frozen=True)
class Look:
    """How a scheme is drawn."""

    place: int

    @property
    def colour(self) -> str:
        return LIGHT[self.place % len(LIGHT)]

    @property
    def dash(self) -> Dash:
        return DASHES[self._turn % len(DASHES)]

    @property
    def mark(self) -> str:
        # Shifted with each turn, because single points have no dash to tell them apart.
        return MARKS[(self.place + self._turn) % len(MARKS)]

    @property
    def _turn(self) -> int:
        return self.place // len(LIGHT)


def places(schemes: Iterable[str]) -> dict[str, int]:
    """Assigns a place to each scheme: its own in every figure, and unique within a figure.

    If another scheme already has the place derived from a text, the next free one is used.
    """
    wanted = list(dict.fromkeys(schemes))
    found = {scheme: OWN.index(scheme) for scheme in wanted if scheme in OWN}
    for scheme in wanted:
        if scheme not in found:
            found[scheme] = _free(_first(scheme), set(found.values()))
    return {scheme: found[scheme] for scheme in wanted}


def looks(schemes: Iterable[str]) -> dict[str, Look]:
    """Returns how each of them is drawn."""
    return {scheme: Look(place) for scheme, place in places(schemes).items()}


def _first(scheme: str) -> int:
    return crc32(scheme.encode()) % PLACES


def _free(first: int, taken: set[int]) -> int:
    """Prefers another colour to another dash; if there are more schemes than places, they share them."""
    free = [place for place in range(PLACES) if place not in taken]
    colours = {place % len(LIGHT) for place in taken}
    fresh = [place for place in free if place % len(LIGHT) not in colours]
    among = fresh or free or list(range(PLACES))
    return min(among, key=lambda place: ((place - first) % len(LIGHT), (place - first) % PLACES))
