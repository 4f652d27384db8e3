"""The script that draws a page's figures: plotly.js, which begins with its licence (MIT)."""

from __future__ import annotations

import gzip
from base64 import b64encode
from functools import cache
from importlib.resources import files
from pathlib import Path

PACKED = Path(__file__).parent / "assets" / "plotly.min.js.gz"
"""A wheel contains it; a checkout takes it from Plotly's package, a development dependency."""


@cache
def library() -> str:
    """Returns the compressed script, a third of its size; browsers decompress it themselves."""
    return b64encode(PACKED.read_bytes() if PACKED.exists() else packed()).decode("ascii")


def packed() -> bytes:
    """Compresses the script of Plotly's package. The same versions of it and of zlib give the same bytes."""
    script = (files("plotly") / "package_data" / "plotly.min.js").read_bytes()
    return gzip.compress(script, 9, mtime=0)
