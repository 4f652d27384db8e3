"""What docs/guide/own-congestion-control.md shows is what comes out."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import airtcp
from airtcp.control import CongestionControl

GUIDE = (Path(__file__).parents[3] / "docs/guide/own-congestion-control.md").read_text(encoding="utf-8")


def test_the_example_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    (tmp_path / "aimd.py").write_text(example)
    done = subprocess.run(
        [sys.executable, "aimd.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "aimd:beta=0.8+eifel" in done.stdout
    assert (tmp_path / "aimd" / "results.json").is_file()


@pytest.mark.parametrize(("heading", "kind"), [("an ACK", airtcp.Ack), ("a loss", airtcp.Loss)])
def test_its_tables_have_all_fields(heading: str, kind: type) -> None:
    table = GUIDE.split(f"## What {heading} says")[1].split("##")[0]
    fields = {name for cell in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in _names(cell)}
    assert fields == {name for name in vars(kind) if not name.startswith("_")}


def test_its_table_has_all_hooks() -> None:
    table = GUIDE.split("| hook |")[1].split("\n\n")[0]
    hooks = re.findall(r"^\| `(on_\w+)\(", table, re.MULTILINE)
    assert set(hooks) == {name for name in vars(CongestionControl) if name.startswith("on_")}


def _names(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)
