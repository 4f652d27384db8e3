"""Runs that have failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Failure:
    """A run that left nothing but an error.

    In the simulator that of a congestion control in Python, and `text` has the traceback; on the kernel what
    `airtcpd` complained of.
    """

    scheme: str
    seed: int
    text: str


def failure_notes(failures: Sequence[Failure]) -> list[str]:
    """What failed, for people: what failed alike is told once."""
    alike: dict[tuple[str, str], list[Failure]] = {}
    for failure in failures:
        last_line = failure.text.splitlines()[-1]
        alike.setdefault((failure.scheme, last_line), []).append(failure)
    return [f"{scheme} failed with {_seeds(group)}:\n{group[0].text}" for (scheme, _), group in alike.items()]


def _seeds(failures: Sequence[Failure]) -> str:
    numbers = ", ".join(str(failure.seed) for failure in failures)
    return f"seed{'s' * (len(failures) > 1)} {numbers}"
