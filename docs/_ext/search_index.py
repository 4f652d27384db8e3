"""Sphinx extension: the search finds the public names of `airtcp`, not the internals of results."""

from __future__ import annotations

from collections.abc import Iterator

from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain

import airtcp

HIDDEN = -1
"""A priority that Sphinx omits from the search."""


class PublicFirst(PythonDomain):
    """Python's domain, with internals hidden from the search; references to them work."""

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        for name, shown, kind, page, anchor, priority in super().get_objects():
            yield name, shown, kind, page, anchor, priority if _is_public(name) else HIDDEN


def _is_public(name: str) -> bool:
    package, _, rest = name.partition(".")
    return package == airtcp.__name__ and rest.split(".")[0] in airtcp.__all__ and rest.count(".") < 2


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_domain(PublicFirst, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
