"""Runs the notebooks of examples/ again, and writes the output or compares it with the stored one."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "examples"
TIMEOUT_S = 300


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="only compare; 1 if a notebook tells something else"
    )
    parser.add_argument("notebooks", nargs="*", type=Path, help="all, if none is named")
    asked = parser.parse_args()
    stale = []
    for path in asked.notebooks or sorted(FOLDER.glob("*.ipynb")):
        book = nbformat.read(path, as_version=4)
        before = [told(cell) for cell in book.cells]
        execute(book)
        if not asked.check:
            nbformat.write(book, path)
        stale += [
            f"{path.name}, cell {cell.id}:\n  was {was}\n  is  {now}"
            for cell, was in zip(book.cells, before, strict=True)
            if (now := told(cell)) != was
        ]
    if asked.check and stale:
        print("\n".join(stale), "`make examples` writes them anew.", sep="\n", file=sys.stderr)
        return 1
    return 0


def execute(book: nbformat.NotebookNode) -> None:
    where = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(
        book, kernel_name="python3", timeout=TIMEOUT_S, record_timing=False, resources=where
    ).execute()
    book.metadata["language_info"] = {"name": "python"}


def told(cell: nbformat.NotebookNode) -> list[str]:
    """Returns the words and numbers that a cell printed, without figures, frames and library-dependent
    text."""
    texts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        texts.append(output.get("text", "") + (data.get("text/html") or data.get("text/plain", "")))
    plain = re.sub(r"<(svg|style).*?</\1>|<[^>]*>", " ", "\n".join(texts), flags=re.DOTALL)
    return re.findall(r"[\w.%±–+-]+", plain)


if __name__ == "__main__":
    sys.exit(main())
