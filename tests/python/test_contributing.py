"""What a newcomer reads names files that exist, and the first page stays short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs/contributing").glob("*.md")),
]
FOLDERS = ("crates", "docs", "packaging", "python", "scripts", "tests")
FILE = re.compile(r"`([\w./-]+/[\w./-]*|[\w-]+\.(?:rs|py|toml|md|txt|init|config|h|c))`")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.fixture(scope="module")
def files() -> set[str]:
    """Every file and folder of the sources, as a path from the root that begins with a slash."""
    found = (each for folder in FOLDERS for each in (ROOT / folder).rglob("*"))
    return {f"/{each.relative_to(ROOT)}" for each in found if "target" not in each.parts}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page: Path, files: set[str]) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link for link in LINK.findall(text) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []
    named = {name.removesuffix("/") for name in FILE.findall(text)}
    made = re.compile(r"NAME|^/|^\.venv|^target/|^out/")
    missing = [
        name
        for name in sorted(named)
        if not made.search(name)
        and not (ROOT / name).exists()
        and not any(file.endswith(f"/{name}") for file in files)
    ]
    assert missing == []


def test_the_architecture_is_one_page() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_bytes()) <= 10_000
