"""What the doctor says, beside what was found: it must not call well what then fails."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from commands import Failed, parsed, run


def agrees(failures: dict[str, str]) -> str:
    """Asks the doctor.

    # Arguments
    failures: by section, the name of a feature that fails.
    """
    # Its status says whether all can work.
    sections = parsed(run("airtcpd", "doctor", "--json", statuses=(0, 1)))["sections"]
    found = wrong(sections, failures)
    if found:
        raise Failed("; ".join(found))
    return ""


def wrong(sections: Iterable[dict[str, Any]], failures: dict[str, str]) -> list[str]:
    """Returns a line for each section that is said to work, or is not named, while a feature of it fails."""
    works = {section["name"].replace(",", " ").split()[0]: section["works"] for section in sections}
    said = {True: "says ok of {}, while this fails: {}", None: "says nothing of {}, while this fails: {}"}
    return [
        said[works.get(name)].format(name, failure)
        for name, failure in failures.items()
        if works.get(name) is not False
    ]
