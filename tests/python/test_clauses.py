"""Citations of RFCs: how they are read, and that all of the crates' can be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
sys.path.append(str(SCRIPTS))
from clauses import broken, by_clause, clauses_of  # noqa: E402

READ = {
    "/// RFC 5681 §3.1: the window": [(5681, "3.1")],
    "(RFC 5681 §3.2 (6), first).": [(5681, "3.2 (6)")],
    "// RFC 6298 §5.4 to §5.6; RFC 9293 §3.10.7.4, eighth": [
        (6298, "5.4"),
        (6298, "5.6"),
        (9293, "3.10.7.4"),
    ],
    "RFC 6675 §5 step 3, RFC 6675 §5 (C)": [(6675, "5 step 3"), (6675, "5 (C)")],
    "RFC 7323 §4.2, §5.3 and appendix A.": [(7323, "4.2"), (7323, "5.3"), (7323, "appendix A")],
    "limited transmit (RFC 3042), and RFC 6675's pipe": [(3042, ""), (6675, "")],
    "RFC 9438 §4.9.1 (eqn 5)": [(9438, "4.9.1")],
    "paper 000 §4.2 and RFCs": [],
}


@pytest.mark.parametrize(("line", "expected"), READ.items())
def test_citations_are_read(line: str, expected: list[tuple[int, str]]) -> None:
    assert [(clause.rfc, clause.section) for clause in clauses_of(line, "f.rs")] == expected
    assert list(broken(line, "f.rs")) == []


@pytest.mark.parametrize(
    "text",
    [
        "// RFC 6298 (2.4)",
        "// RFC 6298, section 2.4",
        "// RFC 6298 § 2.4",
        "// RFC6298 §2.4",
        "// RFC 6298 §5.4 to 5.6",
        "// RFC 7323 App. A",
        "// as it says (RFC 6298\n// §2.4)",
        "# RFC\n# 6298",
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text: str) -> None:
    assert [place.split(": ")[0] for place in broken(text, "f.rs")] == ["f.rs:1"]


def test_a_whole_document_may_end_a_line() -> None:
    assert list(broken("// as in RFC 6298\n// with timestamps", "f.rs")) == []


def test_sections_are_ordered_by_their_numbers() -> None:
    text = "RFC 9293 §3.10\nRFC 768\nRFC 9293 §3.9\nRFC 9293 appendix A\nRFC 9293\nRFC 9293 §3.10"
    found = dict(by_clause(sorted(clauses_of(text, "f.rs"), key=lambda clause: clause.order)))
    assert list(found) == [768, 9293]
    assert found[9293] == [
        ("", ["f.rs:5"]),
        ("3.9", ["f.rs:3"]),
        ("3.10", ["f.rs:1", "f.rs:6"]),
        ("appendix A", ["f.rs:4"]),
    ]


def test_every_citation_of_the_crates_can_be_read() -> None:
    command = [sys.executable, str(SCRIPTS / "clauses.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    listed = subprocess.run([*command[:-1], "6298"], capture_output=True, text=True, check=True).stdout
    assert "RFC 6298 §2.4\n  crates/" in listed
