"""What a test says of one kind of air."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from airtcp.fit.radio import Kind, Radio

Certainty = Literal["sure", "perhaps", "none", "untold"]

SURE = 1e-3
"""The null hypothesis is given up below this probability; at it, the Bayes factor against it is at most 53
(Sellke, Bayarri and Berger 2001: −1 / (e p ln p))."""
LEAST = 1e-99
"""Smaller probabilities are not written."""
FEW = 100
"""Fewer round trips tell no kind."""


@dataclass(frozen=True)
class Verdict:
    """Whether an idle path's round trips show one kind of air."""

    kind: Kind
    certainty: Certainty
    """`sure`: the null hypothesis does not hold, and all else is as with this kind. `perhaps`: it does not
    hold, but something is missing. `none`: nothing speaks against it. `untold`: the log cannot show it."""
    p: float | None
    """Probability of such round trips, or plainer ones, under the null hypothesis; None if it was not
    tested."""
    why: str
    """In a sentence."""

    @property
    def is_seen(self) -> bool:
        return self.certainty in {"sure", "perhaps"}

    @property
    def text(self) -> str:
        """The verdict on one line."""
        said = {"sure": ", sure", "perhaps": ", perhaps", "none": ", no sign", "untold": " cannot be told"}
        p = f" (p = {max(self.p, LEAST):.1g})" if self.p is not None and self.is_seen else ""
        return f"{self.kind}{said[self.certainty]}{p}: {self.why}"


def told(radio: Radio) -> Verdict:
    """The verdict where the radio itself says what it is."""
    return Verdict(radio.kind, "sure", None, f"{radio.text}.")
