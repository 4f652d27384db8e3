"""The blocks of a page, except figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, Protocol

from airtcp.showing.report.html import Writer, element, tag


class Block(Protocol):
    """A part of a page."""

    def render(self, to: Writer) -> str:
        """Returns its HTML, with all text escaped."""


@dataclass(frozen=True)
class Text:
    """A paragraph. `kind`: "strong" for essentials, "warning" for what is wrong."""

    text: str
    kind: Literal["", "strong", "warning", "quiet"] = ""

    def render(self, to: Writer) -> str:  # noqa: ARG002 as every block
        return tag("p", self.text, {"class": self.kind} if self.kind else None)


@dataclass(frozen=True)
class List:
    """Sentences, one per line, each with a `name` if the items are pairs."""

    items: Sequence[str | tuple[str, str]]

    def render(self, to: Writer) -> str:  # noqa: ARG002
        return element("ul", "".join(element("li", _item(item)) for item in self.items))


@dataclass(frozen=True)
class Facts:
    """Names and values: seeds, versions."""

    facts: Mapping[str, str]

    def render(self, to: Writer) -> str:  # noqa: ARG002
        pairs = (tag("dt", name) + tag("dd", value) for name, value in self.facts.items())
        return element("dl", "".join(pairs))


@dataclass(frozen=True)
class Table:
    """A table of text. The first column names the row; the others are right-aligned except those in
    `left`."""

    caption: str
    columns: Sequence[str]
    """A line break in a title separates the unit."""
    rows: Sequence[Sequence[str]]
    strong: Sequence[int] = ()
    """Rows to emphasise: the best or, with `warns`, what is wrong."""
    warns: bool = False
    left: Sequence[int] = ()
    """Columns of words."""

    def render(self, to: Writer) -> str:  # noqa: ARG002
        head = "".join(
            element("th", _title(title), {"class": self._side(place)}, scope="col")
            for place, title in enumerate(self.columns)
        )
        body = "".join(self._row(place, row) for place, row in enumerate(self.rows))
        table = element(
            "table",
            element("caption", tag("span", self.caption))
            + element("thead", element("tr", head))
            + element("tbody", body),
        )
        # A wide table scrolls in its own frame, which the keyboard must reach.
        return element("div", table, {"class": "wide"}, tabindex="0", role="region", aria_label=self.caption)

    def _row(self, place: int, row: Sequence[str]) -> str:
        cells = "".join(
            tag("th", cell, scope="row") if column == 0 else tag("td", cell, {"class": self._side(column)})
            for column, cell in enumerate(row)
        )
        return element(
            "tr", cells, {"class": "odd" if self.warns else "best"} if place in self.strong else None
        )

    def _side(self, column: int) -> str:
        return "left" if column == 0 or column in self.left else "right"


@dataclass(frozen=True)
class Source:
    """The text of a file, such as a scenario, folded, to copy or to save."""

    title: str
    text: str
    file: str
    """The name under which it is saved."""
    folded: bool = True

    def render(self, to: Writer) -> str:  # noqa: ARG002
        code = element("pre", tag("code", self.text), tabindex="0", aria_label=self.title)
        buttons = (
            '<div class="buttons"><button class="copy">Copy</button><button class="save">Save</button></div>'
        )
        content = tag("summary", self.title) + buttons + code
        attributes = {"class": "source", "data-file": self.file} | ({} if self.folded else {"open": ""})
        return element("details", content, attributes)


@dataclass(frozen=True)
class Section:
    """A heading and its contents. Sections nest.

    `schemes`: their buttons are at its top, and show and hide them in all its figures.
    """

    title: str
    blocks: Sequence[Block]
    schemes: Sequence[str] = ()
    buttons: bool = True
    """False: the schemes have their colours, but no buttons."""
    folded: bool = False

    def render(self, to: Writer) -> str:
        name = to.name(self.title)
        if to.level == 2:
            to.contents.append((name, self.title))
        heading = tag(f"h{min(to.level, 6)}", self.title, id=f"{name}-title")
        to.level += 1
        content = "\n".join(block.render(to) for block in self.blocks)
        to.level -= 1
        attributes = {"id": name, "aria-labelledby": f"{name}-title"}
        buttons = ""
        if self.schemes:
            attributes["data-schemes"] = name
            to.schemes[name] = list(self.schemes)
            buttons = _BUTTONS if self.buttons else ""
        if self.folded:
            inner = element("details", element("summary", heading) + buttons + content)
            return element("section", inner, attributes)
        return element("section", "\n".join((heading, buttons, content)), attributes)


_BUTTONS = '<div class="schemes buttons" role="group" aria-label="Schemes shown in the figures"></div>'


def _item(item: str | tuple[str, str]) -> str:
    if isinstance(item, str):
        return escape(item)
    return f"{tag('b', item[0])}: {escape(item[1])}"


def _title(title: str) -> str:
    name, _, unit = title.partition("\n")
    return escape(name) + (" " + tag("small", unit) if unit else "")
