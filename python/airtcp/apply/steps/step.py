"""What all steps have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host

State = dict[str, Any]
"""What was there before a step, as JSON: all that `undo` needs."""


@dataclass(frozen=True)
class Step(ABC):
    """One change. It is journalled with what `look` says before `do` begins."""

    KIND: ClassVar[str]

    @property
    @abstractmethod
    def words(self) -> str:
        """What it does, as the command that one would type."""

    @property
    def title(self) -> str:
        """The same in one line: of a file, without what is written into it."""
        return self.words.splitlines()[0].removesuffix(":")

    @abstractmethod
    def look(self, host: Host) -> State:
        """What is there now. Raises ApplyError where `undo` could not bring it back."""

    @abstractmethod
    def holds(self, host: Host) -> bool:
        """Is it so already?"""

    @abstractmethod
    def do(self, host: Host) -> None:
        """Raises ApplyError."""

    @abstractmethod
    def undo(self, host: Host, before: State) -> str | None:
        """Brings `before` back, wherever `do` was stopped. Answers what it has left, and why; None: nothing.

        What somebody else has changed since is left. Raises ApplyError.
        """

    def now(self, before: State) -> str:  # noqa: ARG002 what there is to say depends on the step
        """What is there now, in a few words; nothing where the words of the step say all."""
        return ""

    def check(self, host: Host) -> str:
        """What was seen that shows that it holds. Raises ApplyError where it does not."""

        if not self.holds(host):
            raise ApplyError(f"{self.words} ran but had no effect")
        return f"in effect: {self.words}"
