"""What a newcomer reads names files, names and commands that exist, and the first page stays short."""

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
CODE = re.compile(r"`([^`]+)`")
WORD = re.compile(r"[A-Za-z_]\w*")
PLACEHOLDERS = {"NAME", "REVISION"}
SOURCES = (".rs", ".py", ".js", ".c", ".h", ".toml", ".txt", ".sh", ".init", ".config")
CARGO_TEST = re.compile(r"cargo test -p airtcp-(\w+)(?: --lib| --test (\w+))?(?: (\w+))?")


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


@pytest.fixture(scope="module")
def words(files: set[str]) -> set[str]:
    """Every word of the sources, and of the Makefile."""
    sources = [ROOT / file[1:] for file in files if file.endswith(SOURCES)]
    text = "".join(
        file.read_text(encoding="utf-8", errors="replace") for file in [*sources, ROOT / "Makefile"]
    )
    return set(WORD.findall(text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_in_code_exist(page: Path, words: set[str]) -> None:
    text = page.read_text(encoding="utf-8")
    assert {word for code in CODE.findall(text) for word in WORD.findall(code)} - words <= PLACEHOLDERS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_do_something(page: Path, files: set[str]) -> None:
    text = page.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w./-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"`(?:\w+=\S+ )*make ([\w./-]+)", text)) <= targets
    for crate, binary, asked in CARGO_TEST.findall(text):
        of_crate = [file for file in files if file.startswith(f"/crates/{crate}/") and file.endswith(".rs")]
        assert of_crate, crate
        assert not binary or f"/crates/{crate}/tests/{binary}.rs" in files, binary
        declared = re.compile(rf"\b(?:fn|mod) \w*{asked}")
        assert any(declared.search((ROOT / file[1:]).read_text(encoding="utf-8")) for file in of_crate), asked


def test_the_architecture_is_one_page() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_bytes()) <= 10_000
