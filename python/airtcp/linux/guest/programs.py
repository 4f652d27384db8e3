"""This host's programs, as a guest gets them."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path


def with_libraries(program: Path, name: str) -> dict[str, bytes]:
    """Returns a program and what it is linked to, by their paths without the first `/`.

    # Arguments
    name: that of the program there, in `usr/bin`.
    """
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    libraries = re.findall(r"(/\S+) \(0x", said)
    own = {f"usr/bin/{name}": stripped(program)}
    return {**own, **{path[1:]: Path(path).read_bytes() for path in libraries}}


def stripped(program: Path) -> bytes:
    """Returns a program without what debuggers need, which is the larger part of it."""
    with tempfile.NamedTemporaryFile(prefix="airtcp-guest-") as file:
        if shutil.which("strip"):
            subprocess.run(["strip", "-o", file.name, program], check=False)
        return Path(file.name).read_bytes() or program.read_bytes()
