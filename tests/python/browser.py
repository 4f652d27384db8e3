"""A headless Chromium that lets no request out and forgives no error."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
READY_MS = 30_000
FRAMES = """Promise.race([
  new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(() => then(true)))),
  new Promise((then) => setTimeout(() => then(false), 10_000)),
])"""


@dataclass
class Watched:
    """A page, and what it must not do."""

    page: Any
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def figures(self) -> list[Any]:
        """All of them, each scrolled to, so that it is drawn."""
        found: list[Any] = self.page.locator("figure.figure").all()
        for each in found:
            self.need_frames()
            each.scroll_into_view_if_needed()
            self.page.wait_for_function(
                "f => 'drawn' in f.dataset", arg=each.element_handle(), timeout=READY_MS
            )
        return found

    def need_frames(self) -> None:
        """Skips the test if scripts run but frames have stopped, as on some machines they do."""
        if self.page.evaluate(FRAMES):
            return
        self.page.bring_to_front()
        if not self.page.evaluate(FRAMES):
            pytest.skip("Chromium draws no frames of this page on this machine")


@contextmanager
def chromium() -> Iterator[Any]:
    """Debian's Chromium; tests are skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: `make tools`")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        switches = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=switches)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Any, path: Path, *, before: str = "", **options: Any) -> Iterator[Watched]:
    """The file's page, loaded, after the script `before`.

    At the end: it asked for nothing but itself, and had no error.
    """
    options.setdefault("viewport", {"width": 1100, "height": 800})
    context = browser.new_context(**options)
    watched = Watched(context.new_page())
    context.route(lambda url: not url.startswith("file:"), lambda route: route.abort())
    watched.page.on("request", lambda request: watched.requests.append(request.url))
    watched.page.on("pageerror", lambda error: watched.errors.append(str(error)))
    watched.page.on("dialog", lambda dialog: watched.errors.append(f"dialog {dialog.message}"))
    watched.page.on("console", lambda message: watched.errors.append(f"{message.type} {message.text}"))
    watched.page.add_init_script(before)
    try:
        watched.page.goto(path.as_uri())
        watched.page.wait_for_selector("html[data-ready]", timeout=READY_MS)
        yield watched
        foreign = [
            url for url in watched.requests if url != path.as_uri() and not url.startswith(("data:", "blob:"))
        ]
        assert foreign == []
        assert watched.errors == []
    finally:
        context.close()
