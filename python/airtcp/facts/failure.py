"""Runs that have failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Failure:
    """A run that left only an error.

    In the simulator, `text` is the traceback of a Python congestion control; on the kernel, the message of
    `airtcpd`.
    """

    scheme: str
    seed: int
    text: str


def failure_notes(failures: Sequence[Failure]) -> list[str]:
    """Returns the failures as text; equal ones appear once."""
    alike: dict[tuple[str, str], list[Failure]] = {}
    for failure in failures:
        last_line = failure.text.splitlines()[-1]
        alike.setdefault((failure.scheme, last_line), []).append(failure)
    return [f"{scheme} failed with {_seeds(group)}:\n{group[0].text}" for (scheme, _), group in alike.items()]


def _seeds(failures: Sequence[Failure]) -> str:
    numbers = ", ".join(str(failure.seed) for failure in failures)
    return f"seed{'s' * (len(failures) > 1)} {numbers}"
