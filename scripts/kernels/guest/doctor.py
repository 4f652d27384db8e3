"""What the doctor says, beside what was found: neither well of what fails, nor ill of what works."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from commands import Failed, parsed, run


@dataclass(frozen=True)
class Tried:
    """A feature, and whether it works."""

    feature: str
    section: str
    check: str
    """Of that section; empty if only the section as a whole tells of the feature."""
    works: bool


def agrees(tried: list[Tried]) -> str:
    """Asks the doctor."""
    # Its status says whether all can work.
    found = wrong(parsed(run("airtcpd", "doctor", "--json", statuses=(0, 1)))["sections"], tried)
    if found:
        raise Failed("; ".join(found))
    return ""


def wrong(sections: Iterable[dict[str, Any]], tried: Iterable[Tried]) -> list[str]:
    """Returns a line for each feature of which the doctor says something else than was found, or nothing."""
    by_name = {section["name"].replace(",", " ").split()[0]: section for section in sections}
    found = []
    for each in tried:
        place = f"{each.section}, {each.check}" if each.check else each.section
        said = _said(by_name.get(each.section), each.check)
        if said is None:
            found.append(f"says nothing of {place}, for {each.feature}")
        elif said != each.works:
            verdict, truth = ("ok", "fails") if said else ("missing", "works")
            found.append(f"says {verdict} of {place}, while this {truth}: {each.feature}")
    return found


def _said(section: dict[str, Any] | None, check: str) -> bool | None:
    """Whether the doctor says that it works; `None` if it does not say."""
    if section is None:
        return None
    if not section["works"] or not check:
        return bool(section["works"])
    verdicts = [each["verdict"] for each in section["checks"] if each["what"] == check]
    return verdicts[0] != "missing" if verdicts else None
