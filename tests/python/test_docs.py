"""The documentation site builds without a warning, and every link in it leads somewhere."""

from __future__ import annotations

import html
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from programs.catalogue import catalogue

ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """What a page links to, loads, and can be linked at."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value for key, value in attrs if value}
        self.anchors.update(found[key] for key in ("id", "name") if key in found)
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        loaded = {"link": "href", "script": "src", "img": "src", "iframe": "src"}.get(tag)
        if loaded in found and found.get("rel") not in ("index", "search", "next", "prev", "canonical"):
            self.loads.append(found[loaded])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        str(ROOT / "docs"),
        str(out),
    ]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return out


def test_every_link_leads_somewhere(site: Path) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html")}
    broken = [
        f"{path.relative_to(site)}: {link}"
        for path, page in pages.items()
        for link in [*page.links, *page.loads]
        if not _leads_somewhere(path, link, pages)
    ]
    assert not broken
    assert len(pages) > 10


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        # What a `data:` address stands for is in the page itself.
        assert not [load for load in Page(path).loads if urlsplit(load).scheme not in ("", "data")]


def test_every_command_and_scheme_has_its_place(site: Path) -> None:
    commands = Page(site / "reference/generated/command-line.html").anchors
    assert {"airtcp-compare", "airtcp-paper", "airtcp-model"} <= commands
    schemes = Page(site / "reference/generated/schemes.html").anchors
    assert {"westwood-vt", "packet-control", "decoupling"} <= schemes


def test_every_program_is_listed(site: Path) -> None:
    listed = (site / "reference/generated/programs.html").read_text(encoding="utf-8")
    _, programs = catalogue()
    assert [program.name for program in programs if html.escape(program.name) not in listed] == []


def _leads_somewhere(page: Path, link: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme in ("http", "https", "mailto", "data"):
        return True
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.exists():
        return False
    return not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].anchors
