"""Where runs on a kernel are made: this host, or a guest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from airtcp._engine import CancelToken


@dataclass(frozen=True)
class Ended:
    """How `airtcpd` ended."""

    status: int | None
    """None if it did not end in time."""
    said: str
    """Its error message, without its name."""


class Place(Protocol):
    """A kernel and an `airtcpd` that runs there."""

    @property
    def version(self) -> str:
        """Of `airtcpd`."""

    @property
    def kernel(self) -> str:
        """As `uname -r` prints it."""

    @property
    def at_a_time(self) -> int:
        """Number of runs that do not disturb each other."""

    @property
    def in_real_time(self) -> bool:
        """Whether a run takes as long as its scenario says."""

    def check_privileges(self) -> None:
        """Raises LinuxError if runs cannot be made."""

    def plan(self, recipe: Path) -> str:
        """Returns what `airtcpd run --plan` prints. Raises LinuxError."""

    def make(
        self, options: Sequence[str], recipe: Path, out: Path, limit_s: float, cancel: CancelToken
    ) -> Ended:
        """Makes one run with these options of `airtcpd run`; its record is written to `out`.

        One that is cancelled, or still runs after `limit_s` of the kernel's time, is ended and undone.
        """
