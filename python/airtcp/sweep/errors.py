"""The error of a refused sweep."""

from __future__ import annotations


class SweepError(ValueError):
    """An error that the user can correct: says what is wrong and how."""
