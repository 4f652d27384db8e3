"""What a scenario that was fitted to measurements takes for granted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Assumption:
    """Something that the measurements do not say, and what stands in."""

    what: str
    why: str
    default: str
    remedy: str
    """What to measure or to change."""

    @property
    def text(self) -> str:
        """All but `what` it is about."""
        return f"{self.why} {self.default} {self.remedy}"
