"""The notebooks of examples/ as pages, with their stored results: nothing is run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"


def notebook_page(number: int) -> str:
    """Returns the notebook whose name begins with `number`, as Markdown."""
    path = next(EXAMPLES.glob(f"{number}-*.ipynb"))
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    note = f"From `examples/{path.name}`, as it ran last; `make examples` runs it again.\n"
    first, *rest = (_cell(cell) for cell in cells)
    return "\n".join([first, note, *rest])


def _cell(cell: dict[str, Any]) -> str:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return f"{text}\n"
    outputs = [_output(output) for output in cell["outputs"]]
    return "\n".join([_fence("python", text), *outputs])


def _output(output: dict[str, Any]) -> str:
    """Returns the richest form that a page can show."""
    data = output.get("data", {})
    if "image/png" in data:
        image = "".join(data["image/png"]).replace("\n", "")
        alt = "What the cell draws"
        return _fence("{raw} html", f'<img alt="{alt}" src="data:image/png;base64,{image}">')
    if "text/html" in data:
        return _fence("{raw} html", f'<div class="output">{"".join(data["text/html"])}</div>')
    return _fence("text", "".join(data.get("text/plain", output.get("text", ""))))


def _fence(kind: str, text: str) -> str:
    return f"~~~~{kind}\n{text.rstrip()}\n~~~~\n"
