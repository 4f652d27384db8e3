"""Puts the playground together: page, worker and WebAssembly in one file that opens offline.

usage: playground.py WASM OUT
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "crates/web/page"
IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([\w-]+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function|class) ([\w$]+))", re.MULTILINE)
DATA = "palette-data.js"


def text_of(name: str) -> str:
    if name == DATA:
        # Loaded by itself, because the package needs the engine.
        palette = runpy.run_path(str(ROOT / "python/airtcp/showing/palette.py"))
        found = {name.lower(): palette[name] for name in ("LIGHT", "DARK", "OWN", "DASHES")}
        return f"export const PALETTE = {json.dumps(found)};\n"
    return (PAGE / name).read_text()


def bundle(name: str, seen: set[str] | None = None) -> str:
    """Returns the module and everything that it imports, each once, as a function that returns its
    exports."""
    seen = set() if seen is None else seen
    if name in seen:
        return ""
    seen.add(name)
    text = text_of(f"{name}.js")
    needed = "".join(bundle(other, seen) for _, other in IMPORT.findall(text))
    body = EXPORT.sub("", IMPORT.sub(lambda found: f"const {found[1]} = {variable(found[2])};", text))
    exports = ", ".join(EXPORT.findall(text))
    return f"{needed}const {variable(name)} = (() => {{\n{body}return {{ {exports} }};\n}})();\n"


def variable(name: str) -> str:
    return "_" + name.replace("-", "_")


def page(wasm: bytes) -> str:
    parts = {
        "style": text_of("page.css"),
        "worker": bundle("worker"),
        "wasm": base64.b64encode(gzip.compress(wasm, mtime=0)).decode(),
        "script": bundle("main"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], text_of("index.html"))


def main() -> None:
    wasm, out = map(Path, sys.argv[1:])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(wasm.read_bytes()))


if __name__ == "__main__":
    main()
