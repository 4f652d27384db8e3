"""The playground: the simulator in a page that opens offline. `make play` builds it; a wheel has it."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).with_name("playground.html")
CURE = "the playground is not built here: run `make play` in the checkout, or install a wheel, which has it"


class NotBuiltError(Exception):
    """The page is not there, and what to do about it."""

    def __init__(self) -> None:
        super().__init__(CURE)


def page() -> Path:
    """Where the page is. Raises NotBuiltError."""
    if not PAGE.is_file():
        raise NotBuiltError
    return PAGE
