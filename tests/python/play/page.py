"""What the tests of the playground share."""

from __future__ import annotations

from pathlib import Path

import pytest

import airtcp.play

WASM = Path(__file__).parents[3] / "target/wasm32-unknown-unknown/web/airtcp_web.wasm"


def built_page() -> Path:
    """The playground; the test is skipped where it was not built."""
    try:
        return airtcp.play.page()
    except airtcp.play.NotBuiltError as error:
        pytest.skip(str(error))


def built_wasm() -> Path:
    if not WASM.is_file():
        pytest.skip("the WebAssembly was not built: `make play`")
    return WASM
