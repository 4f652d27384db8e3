"""What the site's search finds of the Python reference: what one calls by name, not its parts."""

from __future__ import annotations

from typing import Any

import airtcp


def hide_internals(_app: Any, env: Any) -> None:
    """An aliased object keeps its place and its links, and is not among the search's objects."""
    objects = env.get_domain("py").objects
    for name, entry in objects.items():
        if not _is_public(*name.split(".")[1:]):
            objects[name] = entry._replace(aliased=True)


def _is_public(first: str = "", *rest: str) -> bool:
    """`airtcp.sweep` is, and what a class of `airtcp` has; `airtcp.sweep.plan.Axis` is a module's."""
    return first in airtcp.__all__ and (not rest or isinstance(getattr(airtcp, first), type))
