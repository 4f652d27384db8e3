"""Telling how work gets on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Watcher(Protocol):
    """Is told how work gets on."""

    def expect(self, runs: int) -> None:
        """So many more runs are to come."""

    def done(self, label: str) -> None:
        """One of them is done."""


@dataclass(frozen=True)
class Silent:
    """A watcher that nobody sees."""

    def expect(self, runs: int) -> None:
        pass

    def done(self, label: str) -> None:
        pass
