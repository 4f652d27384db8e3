"""The interface of all steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host

State = dict[str, Any]
"""The state before a step, as JSON: all that `undo` needs."""


@dataclass(frozen=True)
class Step(ABC):
    """One change. The result of `look` is in the journal before `do` begins."""

    KIND: ClassVar[str]

    @property
    @abstractmethod
    def words(self) -> str:
        """What it does, as a command that one would type."""

    @property
    def title(self) -> str:
        """`words` in one line; for a file, without its contents."""
        return self.words.splitlines()[0].removesuffix(":")

    @abstractmethod
    def look(self, host: Host) -> State:
        """Returns the current state. Raises ApplyError if `undo` could not restore it."""

    @abstractmethod
    def holds(self, host: Host) -> bool:
        """Returns whether the change is already in place."""

    @abstractmethod
    def do(self, host: Host) -> None:
        """Makes the change. Raises ApplyError."""

    @abstractmethod
    def undo(self, host: Host, before: State) -> str | None:
        """Restores `before`, wherever `do` was stopped. Returns what remains, and why; None if nothing.

        Changes that somebody else has made since are kept. Raises ApplyError.
        """

    def now(self, before: State) -> str:  # noqa: ARG002 what there is to say depends on the step
        """Returns the current state in a few words; empty if `words` already says all."""
        return ""

    def check(self, host: Host) -> str:
        """Returns evidence that the change is in effect. Raises ApplyError if it is not."""

        if not self.holds(host):
            raise ApplyError(f"{self.words} ran but had no effect")
        return f"in effect: {self.words}"
