"""The page of rivals is that of what was kept."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "scripts/rivals"))
from measuring import Record, Result  # noqa: E402
from rivals_page import cell, page  # noqa: E402


def test_a_cell_is_the_mean_of_its_runs() -> None:
    runs = [Result("1 % loss", "cubic", seed, seed * 1.0, seed * 10.0, seed * 2.0) for seed in (1, 3)]
    assert cell(runs) == "2.0 (20.0; 4.0)"
    assert cell([Result("1 % loss", "decouple", 1, 16.0, None, None)]) == "16.0"
    assert cell([]) == ""


def test_the_page_is_that_of_what_was_kept() -> None:
    made = page(Record.read(ROOT / "docs/rivals.json"))
    assert (ROOT / "docs/rivals.md").read_text(encoding="utf-8") == made
