"""The playground: the simulator in a page that opens offline. `make play` builds it; a wheel has it."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).with_name("playground.html")
CURE = "the playground is not built here: run `make play` in the checkout, or install a wheel, which has it"


class NotBuiltError(Exception):
    """The page does not exist; the text says how to build it."""

    def __init__(self) -> None:
        super().__init__(CURE)


def page() -> Path:
    """Returns the path of the page. Raises NotBuiltError."""
    if not PAGE.is_file():
        raise NotBuiltError
    return PAGE
