"""What a scenario fitted to measurements assumes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Assumption:
    """Something that the measurements do not show, and the value assumed."""

    what: str
    why: str
    default: str
    remedy: str
    """What to measure or to change."""

    @property
    def text(self) -> str:
        """All but `what` the assumption is about."""
        return f"{self.why} {self.default} {self.remedy}"
