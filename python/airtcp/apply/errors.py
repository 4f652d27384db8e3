"""Why a change to this host was not made, or not undone."""

from __future__ import annotations


class ApplyError(Exception):
    """Says what is wrong and how to cure it. Nothing is left half done when it is raised."""
