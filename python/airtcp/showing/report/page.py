"""The page: one file that needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from airtcp.facts.files import REPORT
from airtcp.showing.palette import DARK, DASHES, LIGHT, MARKS, places
from airtcp.showing.report.blocks import Block
from airtcp.showing.report.html import Writer, element, script_json, tag
from airtcp.showing.report.plotly import library

STYLES = ("page.css", "print.css")
SCRIPTS = ("base.js", "traces.js", "layout.js", "figures.js", "data.js", "controls.js", "main.js")
"""Concatenated into one module, in this order."""
ONLY_ITSELF = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
"""Content security policy: the browser refuses whatever else the page might load."""


@dataclass(frozen=True)
class Page:
    """`summary` is the answer in a sentence, at the top of the page."""

    title: str
    summary: str
    blocks: Sequence[Block]
    subtitle: str = ""

    def html(self) -> str:
        """Returns the page's text, which depends only on its contents and the versions of Plotly and zlib."""
        to = Writer()
        content = "\n".join(block.render(to) for block in self.blocks)
        return _TEMPLATE.format(
            policy=ONLY_ITSELF,
            title=tag("title", f"{self.title} – airtcp"),
            style=element("style", _colours() + _assets(STYLES)),
            heading=tag("h1", self.title),
            subtitle=tag("p", self.subtitle, {"class": "subtitle"}) if self.subtitle else "",
            summary=tag("p", self.summary, {"class": "verdict"}),
            contents="".join(tag("a", text, href=f"#{name}") for name, text in to.contents),
            content=content,
            data=script_json(
                {
                    "figures": to.figures,
                    "schemes": to.schemes,
                    "places": places(scheme for schemes in to.schemes.values() for scheme in schemes),
                    "dashes": DASHES,
                    "symbols": MARKS,
                }
            ),
            library=library() if to.figures else "",
            script=_assets(SCRIPTS),
        )

    def write(self, path: Path) -> Path:
        """Writes the page and returns its path. Raises OSError, and ValueError if the name is no page's."""
        REPORT.check(path)
        path.write_text(self.html(), encoding="utf-8", newline="\n")
        return path


def _colours() -> str:
    """Returns the palette as CSS variables, which the script reads too."""
    light = "".join(f"--series-{place}:{colour};" for place, colour in enumerate(LIGHT))
    dark = "".join(f"--series-{place}:{colour};" for place, colour in enumerate(DARK))
    return f":root{{{light}}}:root[data-theme=dark]{{{dark}}}\n"


def _assets(names: Sequence[str]) -> str:
    folder = files("airtcp.showing.report") / "assets"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


_TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
{title}
{style}
</head>
<body>
<a class="skip" href="#content">Skip to the results</a>
<header>
<div class="bar">
<nav aria-label="Contents">{contents}</nav>
<button id="theme" type="button" aria-pressed="false">Dark</button>
</div>
{heading}
{subtitle}
{summary}
</header>
<noscript><p class="warning">The figures need JavaScript. Tables and text do not.</p></noscript>
<p id="trouble" class="warning" role="alert" hidden></p>
<main id="content" tabindex="-1">
{content}
</main>
<script type="application/json" id="report-data">{data}</script>
<script type="text/plain" id="plotly">{library}</script>
<script type="module">
{script}
</script>
</body>
</html>
"""
