"""What a sweep refuses."""

from __future__ import annotations


class SweepError(ValueError):
    """The user can mend it: says what is wrong and how."""
