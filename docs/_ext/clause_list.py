"""The clauses of RFCs that the crates cite."""

from __future__ import annotations

import sys
from pathlib import Path

from markdown import code, table

sys.path.append(str(Path(__file__).parents[2] / "scripts"))
from clauses import by_clause, cited, title

HEAD = """# RFC clauses

What the code and its tests cite, and where: `scripts/clauses.py` prints the same.
"""


def clauses_page() -> str:
    """Returns a table for each RFC."""
    return "\n".join([HEAD, *(_of_rfc(rfc, sections) for rfc, sections in by_clause(cited()))])


def _of_rfc(rfc: int, sections: list[tuple[str, list[str]]]) -> str:
    rows = [(title(section), ", ".join(map(code, places))) for section, places in sections]
    link = f"[RFC {rfc}](https://www.rfc-editor.org/rfc/rfc{rfc})"
    return f"## RFC {rfc}\n\n{link}\n\n{table(['', ''], rows)}"
