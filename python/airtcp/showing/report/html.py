"""Makes HTML from untrusted text: a scenario may call its link `</script>`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any


@dataclass
class Writer:
    """State of writing a page: figures, anchors, the level of the next heading."""

    level: int = 2
    figures: dict[str, Any] = field(default_factory=dict)
    contents: list[tuple[str, str]] = field(default_factory=list)
    """Anchors and titles of the top-level sections."""
    schemes: dict[str, list[str]] = field(default_factory=dict)
    """Schemes of each section with buttons, by the section's anchor."""
    _names: dict[str, int] = field(default_factory=dict)

    def name(self, title: str) -> str:
        """Returns a unique anchor made from a title."""
        letters = "".join(
            letter if letter.isascii() and letter.isalnum() else " " for letter in title.lower()
        )
        base = "-".join(letters.split())[:40] or "part"
        self._names[base] = self._names.get(base, 0) + 1
        return f"at-{base}" if self._names[base] == 1 else f"at-{base}--{self._names[base]}"

    def add_figure(self, name: str, spec: dict[str, Any]) -> None:
        self.figures[name] = spec


def tag(name: str, text: str, attributes: Mapping[str, str] | None = None, **more: str) -> str:
    """Returns an element with text; underscores in attribute names become hyphens."""
    return element(name, escape(text), attributes, **more)


def element(name: str, content: str, attributes: Mapping[str, str] | None = None, **more: str) -> str:
    """Returns an element around HTML."""
    given = {**(attributes or {}), **{key.replace("_", "-"): value for key, value in more.items()}}
    written = "".join(f' {key}="{escape(value)}"' for key, value in given.items())
    return f"<{name}{written}>{content}</{name}>"


def script_json(value: object) -> str:
    """Returns JSON for a script element: without `<`, so nothing in it can close the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
