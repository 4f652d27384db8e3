"""The page of speeds, and that the README says nothing else."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benches"))
from speed_page import page  # noqa: E402

WORKLOAD = {"name": "8 flows"}
COST = {"ns": 57.4, "instructions": 1031.2, "delivered": 10}
NONE = {"ns": None, "instructions": None, "delivered": None}


def test_a_page_is_made_of_what_was_measured() -> None:
    made = page(
        {
            "revision": "52f9d513",
            "machine": {"cpu": "x86_64", "cores": 2},
            "costs": [{"workload": WORKLOAD, "airtcp": COST, "ns2": NONE}],
            "others": [{"workload": WORKLOAD, "airtcp": COST}],
            "growth": [{"rate_mbps": rate, "workload": WORKLOAD, "airtcp": COST} for rate in (10, 100)],
            "peak_kib": {"after_10_s": 2048, "after_100_s": 2560, "of_1000 flows": 4000},
        }
    )
    assert "measured it at revision 52f9d513 on 2 cores" in made
    assert "| 8 flows | 57 | 1 031 | - | - |" in made
    assert "| 8 flows | 57 | 1 031 |\n" in made
    assert "| workload | 10 Mbit/s | 100 Mbit/s |" in made
    assert "2.0 MiB after 10 s of simulated time, and 2.5 MiB after 100 s" in made
    assert "| 1000 flows | 4 000 |" in made


def test_the_readme_has_the_figures_of_the_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    said = readme.split("## Speed\n")[1].split("\n## ")[0]
    cells = set(re.findall(r"(?<=\| )[\d ]+(?= \|)", (ROOT / "docs/speed.md").read_text(encoding="utf-8")))
    named = re.findall(r"\b\d{2,3}\b(?! %)|\b\d \d{3}\b", said)
    assert len(named) >= 4
    assert [number for number in named if number not in cells] == []
