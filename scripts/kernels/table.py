"""The table kernel by feature, as text and as a page; and what a page claims."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MARK = "FEATURE "
FAILS = "**fails**"
INTRODUCTION = """# Kernels

What works where: every feature of `airtcpd` on kernels of Debian, booted under qemu with a counted clock
(`make test-kernels`, which made this page). Numbers are what the guest measured: goodput of iperf3, what
curl says of its upload, or a round trip. A feature works if it does what it is for and ends as it should. A
controller must carry 1 Mbit/s over 10 Mbit/s with losses, concord and the link under BBR 8.5 Mbit/s, and
9.2 Mbit/s in half a minute; filter and proxies 25 Mbit/s of the 30 that are sent, circuits 5 Mbit/s of 10.
Beside what the link gives stands what the kernel's own emulator, netem, gives over the same path. The doctor
must say of each feature what was found. What each group leaves behind is found by comparing interfaces,
addresses, rules, routes, nft, qdiscs, pins, programs, sysctls and files.

jersey, new-jersey and spectcp take every loss for corruption and hear of congestion by ECN alone. Their path
marks packets, and they must carry 8.5 Mbit/s. Where nothing marks, the queue that slow start has filled
overflows for as long as they send, and what is sent again is lost again: within 2 s they carry 2.1 to
9.0 Mbit/s in the simulator (12 seeds; 2.1 with seed 1, which the guests have), and carried 2.1 to 9.3 Mbit/s
on these kernels. With marks it is 8.9 to 9.3 Mbit/s in the simulator.

Concord's Start fills the queue once and drains it, and it looks for its losses' cause after 2, 8 and 26 s:
in a transfer of 2 s that weighs. The simulator has 9.10 to 9.31, 9.21 to 9.28 and 9.30 to 9.32 Mbit/s within
2, 10 and 30 s (6 seeds).

vegas carries 5.9 Mbit/s on 5.10 and 6.2 to 6.5 later. Within 2 s seeds differ by more: 5.46 to 6.76 in the
simulator (12 seeds). Over 30 s it carries 5.60 on 5.10 and 5.96 on 6.1; so does the kernel's own reno, 6.09
and 6.27, so that it is not our program alone. [What changed between kernels](fidelity-kernels.md) tells of
PRR, whose code differs there.
"""


@dataclass(frozen=True)
class Result:
    """What a guest found."""

    version: str
    """As asked for, such as `6.1`."""
    release: str
    """As `uname -r` prints it."""
    airtcpd: str
    """The build that was tried: `at revision …`, or what identifies it."""
    has_ended: bool
    features: list[dict[str, Any]]

    @property
    def tried(self) -> set[str]:
        """Names what the guest has come to."""
        return {each["feature"] for each in self.features}

    @property
    def good(self) -> set[str]:
        """Names what works."""
        return {each["feature"] for each in self.features if each["works"]}


def read(folder: Path) -> Result:
    """Reads what a guest said, from its folder."""
    about = json.loads((folder / "about").read_text(encoding="utf-8"))
    said = (folder / "said").read_text(encoding="utf-8", errors="replace")
    lines = [line.removeprefix(MARK) for line in said.splitlines() if line.startswith(MARK)]
    return Result(**about, features=[json.loads(line) for line in lines])


def text(result: Result) -> str:
    """Returns a line for each feature, with the reason where it fails."""
    lines = [f"Linux {result.release}"]
    for each in result.features:
        word = "ok  " if each["works"] else "FAIL"
        lines.append(f"  {word} {each['feature']}" + (f": {each['says']}" if each["says"] else ""))
    if not result.has_ended:
        lines.append("  FAIL the guest did not come to its end")
    return "\n".join(lines)


def page(results: list[Result]) -> str:
    """Returns the page: a table, and below it the reasons."""
    names = list(dict.fromkeys(each["feature"] for result in results for each in result.features))
    lines = [INTRODUCTION, "| feature |" + "".join(f" {result.version} |" for result in results)]
    lines.append("| --- |" + " --- |" * len(results))
    for name in names:
        lines.append(f"| {name} |" + "".join(f" {_cell(result, name)} |" for result in results))
    lines += ["", *(_about(result, names) for result in results)]
    reasons = [line for result in results for line in _reasons(result)]
    if reasons:
        lines += ["", "## What fails, and what it says", "", *reasons]
    return "\n".join(lines) + "\n"


def claims(page_text: str, version: str) -> set[str]:
    """Returns the features of which a page says that they work on this kernel."""
    rows = [line.strip("|").split("|") for line in page_text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in row] for row in rows]
    if not cells or version not in cells[0]:
        return set()
    column = cells[0].index(version)
    return {row[0] for row in cells[2:] if row[column] not in ("", FAILS)}


def _about(result: Result, names: list[str]) -> str:
    stopped = "" if result.has_ended else "; stopped before its end"
    untried = "" if result.tried >= set(names) else "; what has no entry was not tried"
    return f"- {result.version}: Linux {result.release}, airtcpd {result.airtcpd}{stopped}{untried}"


def _cell(result: Result, name: str) -> str:
    for each in result.features:
        if each["feature"] == name:
            return (each["says"] or "works") if each["works"] else FAILS
    return ""


def _reasons(result: Result) -> list[str]:
    failures = [each for each in result.features if not each["works"]]
    return [f"- {result.version}, {each['feature']}: `` {each['says']} ``" for each in failures]
