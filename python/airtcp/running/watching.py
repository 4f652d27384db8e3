"""The interface of progress displays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Watcher(Protocol):
    """Receives progress."""

    def expect(self, runs: int) -> None:
        """Announces that many more runs."""

    def done(self, label: str) -> None:
        """Reports that a run is done."""


@dataclass(frozen=True)
class Silent:
    """A watcher that shows nothing."""

    def expect(self, runs: int) -> None:
        pass

    def done(self, label: str) -> None:
        pass
