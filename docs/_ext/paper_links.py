"""Sphinx extension: links "paper 000" to the page that explains it, and names its authors."""

from __future__ import annotations

import re
from itertools import pairwise

from docutils import nodes
from sphinx.application import Sphinx

PAGE = "five-papers"
PAPERS = {
    "000": ("paper-000-tcp-decoupling", "Wang and Kung: TCP decoupling"),
    "001": ("paper-001-packet-control", "Zeng and Trajković: packet control"),
    "002": ("paper-002-spectcp", "SpecTCP"),
    "003": ("paper-003-a-larger-rto-and-go-back-n", "A larger RTO, and go-back-N"),
    "004": ("paper-004-westwoodvt", "Koo, Mun and Choo: WestwoodVT"),
}
NAMED = re.compile(rf"[Pp]aper ({'|'.join(PAPERS)})\b")
LEFT_ALONE = (nodes.reference, nodes.literal, nodes.literal_block, nodes.title, nodes.raw)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", link_papers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def link_papers(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if docname == PAGE:
        return
    uri = app.builder.get_relative_uri(docname, PAGE)
    for text in list(doctree.findall(nodes.Text)):
        if NAMED.search(text) and not _is_within(text, LEFT_ALONE):
            text.parent.replace(text, _linked(str(text), uri))


def _linked(text: str, uri: str) -> list[nodes.Node]:
    found = list(NAMED.finditer(text))
    ends = [0, *(match.end() for match in found)]
    parts: list[nodes.Node] = []
    for match, (begin, _) in zip(found, pairwise(ends), strict=True):
        anchor, title = PAPERS[match[1]]
        link = nodes.reference("", match[0], internal=True, refuri=f"{uri}#{anchor}", reftitle=title)
        parts += [nodes.Text(text[begin : match.start()]), link]
    return [*parts, nodes.Text(text[ends[-1] :])]


def _is_within(node: nodes.Node, kinds: tuple[type[nodes.Node], ...]) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False
