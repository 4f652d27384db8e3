"""`airtcp play`, with the page and without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import airtcp.play
from airtcp.cli.app import app
from airtcp.cli.errors import InputError


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "playground.html"
    monkeypatch.setattr(airtcp.play, "PAGE", place)
    return place


def test_it_writes_the_page_or_opens_it(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page.write_text("<!doctype html>")
    opened: list[str] = []

    def open_url(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr("webbrowser.open", open_url)
    copy = page.with_name("copy.html")
    assert str(copy) in CliRunner().invoke(app, ["play", "--out", str(copy)]).output
    assert copy.read_text() == page.read_text()
    assert opened == []
    CliRunner().invoke(app, ["play"])
    assert opened == [page.as_uri()]


def test_without_the_page_it_says_what_to_do(page: Path) -> None:
    assert not page.exists()
    error = CliRunner().invoke(app, ["play"]).exception
    assert isinstance(error, InputError)
    assert "make play" in str(error)
