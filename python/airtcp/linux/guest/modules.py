"""Chooses of a kernel's modules those that runs need."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator
from pathlib import Path

NEEDED = (
    "crc32c_generic", "tun", "veth", "tcp_bbr", "sch_fq", "sch_ingress", "cls_bpf", "nft_tproxy",
    "nft_socket", "nft_ct",
)  # fmt: skip
"""Built into a kernel, they are no files. The first is what libcrc32c, of nf_tables, asks for by its name."""
DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")
SUFFIX = re.compile(r"\.ko(\.xz)?$")


def chosen(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yields names and contents, each after those that it depends on.

    # Arguments
    folder: `lib/modules/RELEASE`.
    """
    files = {_name(path.name): path for path in sorted(folder.rglob("*.ko*")) if SUFFIX.search(path.name)}
    seen: set[str] = set()

    def with_what_it_needs(name: str) -> Iterator[tuple[str, bytes]]:
        if name in seen or name not in files:
            return
        seen.add(name)
        content = _read(files[name])
        for needed in _depends(content):
            yield from with_what_it_needs(needed)
        yield name, content

    for name in NEEDED:
        yield from with_what_it_needs(name)


def _name(file: str) -> str:
    return SUFFIX.sub("", file).replace("-", "_")


def _read(path: Path) -> bytes:
    content = path.read_bytes()
    return lzma.decompress(content) if path.suffix == ".xz" else content


def _depends(content: bytes) -> list[str]:
    found = DEPENDS.search(content)
    return [_name(name) for name in found[1].decode().split(",") if name] if found else []
