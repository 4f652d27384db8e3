"""What the README counts is what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import airtcp

ROOT = Path(__file__).parents[2]


def text(page: str) -> str:
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md"])
def test_congestion_controls_are_counted(page: str) -> None:
    count = sum(scheme["part"] == "congestion control" for scheme in airtcp.schemes())
    assert re.findall(r"(?:- |, )(\d+) congestion controls", text(page)) == [str(count)]


def test_cells_that_agree_with_the_kernel_are_counted() -> None:
    close, decided = re.findall(r"- goodput: (\d+) of (\d+) decided cells", text("docs/fidelity.md"))[0]
    assert f"within 5 % in {close} of the {decided} decided cells" in text("README.md")
