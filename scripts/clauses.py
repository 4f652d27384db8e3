"""Lists the clauses of RFCs that the crates cite, by RFC and section, each with its places.

    scripts/clauses.py            as text
    scripts/clauses.py 6298 9293  those of some RFCs
    scripts/clauses.py --check    says which citations cannot be read, and fails if there are any

A citation is `RFC 5681 §3.2`, `RFC 5681 §3.2 (4)`, `RFC 7323 §4.2, §5.3 and appendix A`, on one line;
`RFC 3042` alone cites the whole document. Standard library only.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES = ROOT / "crates"
ENDINGS = {".rs", ".c", ".h", ".timeline"}

_SECTION = r"(?:§|appendix )(?:[A-Z]\b|[0-9])[0-9.]*[0-9]?(?: (?:\([0-9A-Za-z]{1,2}\)|step [0-9]+))?"
_CITED = re.compile(rf"\bRFC (?P<number>\d+)(?P<sections>(?:(?:, |; | and | or |,? to )?[ ]?{_SECTION})*)")
_EACH = re.compile(_SECTION)
_BROKEN = re.compile(
    r"\bRFC\d"
    r"|\bRFC \d+,? ?(?:\(\d|[Ss]ec\b|[Ss]ection|App\b|§ )"
    r"|\bRFC \d+ §[0-9.]+(?: to |–|-)\d"
    r"|\bRFC(?: \d+,?)?\s*$"
)
"""Intended as a citation, but malformed. At the end of a line, the rest may be on the next one."""
_CONTINUED = re.compile(r"^\s*(?://[/!]?|\*|#)?\s*(?:§|appendix |\(\d|\d)")


@dataclass(frozen=True)
class Clause:
    """One citation; `section` is empty if the whole document is cited."""

    rfc: int
    section: str
    file: str
    line: int

    @property
    def order(self) -> tuple[int, list[tuple[bool, int, str]], str, int]:
        """By RFC and section, §9 before §10 and appendices last."""
        parts = re.findall(r"\d+|[A-Za-z]+", self.section.removeprefix("appendix "))
        keys = [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]
        return self.rfc, keys, self.file, self.line


def clauses_of(text: str, file: str) -> Iterator[Clause]:
    """Yields the citations in the lines of `text`."""
    for number, line in enumerate(text.splitlines(), 1):
        for cited in _CITED.finditer(line):
            for section in _EACH.findall(cited["sections"]) or [""]:
                yield Clause(int(cited["number"]), section.removeprefix("§").rstrip("."), file, number)


def broken(text: str, file: str) -> Iterator[str]:
    """Yields malformed citations, each with its place."""
    lines = text.splitlines()
    for number, (line, after) in enumerate(zip(lines, [*lines[1:], ""], strict=True), 1):
        if (found := _BROKEN.search(line)) and (found.end() < len(line) or _CONTINUED.match(after)):
            yield f"{file}:{number}: {line.strip()}"


def sources() -> Iterator[tuple[str, str]]:
    """Yields names, from the root of the project, and texts."""
    for path in sorted(CRATES.rglob("*")):
        if path.suffix in ENDINGS and "target" not in path.parts:
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def cited() -> list[Clause]:
    """Returns all citations in order."""
    return sorted(
        (each for file, text in sources() for each in clauses_of(text, file)), key=lambda c: c.order
    )


def by_clause(clauses: list[Clause]) -> Iterator[tuple[int, list[tuple[str, list[str]]]]]:
    """Yields each RFC's sections, each with the places that cite it."""
    for rfc, of_rfc in groupby(clauses, key=lambda clause: clause.rfc):
        yield (
            rfc,
            [
                (section, list(dict.fromkeys(f"{clause.file}:{clause.line}" for clause in places)))
                for section, places in groupby(of_rfc, key=lambda clause: clause.section)
            ],
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rfc", nargs="*", type=int, help="only these")
    parser.add_argument("--check", action="store_true", help="say which citations cannot be read")
    options = parser.parse_args()
    if options.check:
        wrong = [each for file, text in sources() for each in broken(text, file)]
        sys.exit("\n".join(["these citations cannot be read:", *wrong]) if wrong else 0)
    for rfc, sections in by_clause(cited()):
        if not options.rfc or rfc in options.rfc:
            for section, places in sections:
                print(f"RFC {rfc} {title(section)}")
                print(*(f"  {place}" for place in places), sep="\n")


def title(section: str) -> str:
    return f"§{section}" if section[:1].isdigit() else section or "(as a whole)"


if __name__ == "__main__":
    main()
