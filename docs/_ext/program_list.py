"""The programs that are tried on real links, from the tests' catalogue."""

from __future__ import annotations

import sys
from pathlib import Path

from markdown import code, paragraph, table

sys.path.append(str(Path(__file__).parents[2] / "tests/python/programs"))
from catalogue import WAYS, Program, catalogue

HEAD = """# Programs that were tried

`make test-live` runs these programs as Debian packages them, unmodified: the client and the server in a
network namespace each, with an emulated link of 20 Mbit/s and 10 ms between them that loses 0.5 % of all
packets. Each does the same over the link alone, through the proxy with both of its stacks, and decoupled,
and what arrives is compared byte for byte. A test also fails if the proxy did not carry the connections,
or keeps one that both ends have left.
"""


def programs_page() -> str:
    """Returns a table of programs by ways."""
    servers, programs = catalogue()
    rows = [
        (
            paragraph(program.name),
            paragraph(program.does),
            ", ".join(code(name) for name in sorted({*program.packages, *servers[program.server].packages})),
            *(_outcome(program, way) for way in WAYS),
        )
        for program in programs
    ]
    return f"{HEAD}\n{table(['program', 'what it does', 'packages', *WAYS.values()], rows)}"


def _outcome(program: Program, way: str) -> str:
    return f"no: {paragraph(program.known[way])}" if way in program.known else "yes"
