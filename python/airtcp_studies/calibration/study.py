"""Measures known paths, fits, and counts how often what a fit claims is true."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

from airtcp.fit.findings import Z
from airtcp_studies.calibration.advised import Worth, worth
from airtcp_studies.calibration.claims import Claim, claims
from airtcp_studies.calibration.paths import KnownPath, known_path

PATHS = 240
ADVISED_OF, ADVISED = 24, frozenset({1, 5, 10})
"""Of so many paths in turn, for these advice is asked: transfers that were captured, and one of iperf3."""


@dataclass(frozen=True)
class Studied:
    """One path and what its fit claimed."""

    path: KnownPath
    claims: tuple[Claim, ...]
    worth: Worth | None = None
    """None if no advice was asked."""


@dataclass(frozen=True)
class Coverage:
    """How often claims of one kind hold."""

    tool: str
    quantity: str
    is_interval: bool
    """Both ends are claimed; otherwise it is a bound."""
    n: int
    held: int

    @property
    def share(self) -> float:
        return self.held / self.n

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, for 95 %."""
        squared = Z**2 / self.n
        middle = (self.share + squared / 2) / (1 + squared)
        half = Z / (1 + squared) * math.sqrt(self.share * (1 - self.share) / self.n + squared / (4 * self.n))
        return max(0.0, middle - half), min(1.0, middle + half)


def study_path(number: int) -> Studied:
    path = known_path(number)
    asked = number % ADVISED_OF in ADVISED
    return Studied(path, tuple(claims(path)), worth(path) if asked else None)


def study(
    paths: int = PATHS,
    *,
    journal: Path | None = None,
    jobs: int | None = None,
    on_done: Callable[[Studied], object] = lambda _: None,
) -> list[Studied]:
    """Returns the first `paths` paths, studied. Those in the journal are not measured again."""
    known = _read(journal) if journal is not None else {}
    missing = [number for number in range(paths) if number not in known]
    # Not by fork, because Polars and the engine have threads.
    with ProcessPoolExecutor(jobs, get_context("spawn")) as executor:
        for done in executor.map(study_path, missing):
            known[done.path.number] = done
            on_done(done)
            if journal is not None:
                with journal.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(done)) + "\n")
    return [known[number] for number in range(paths)]


def coverages(studied: Iterable[Studied]) -> list[Coverage]:
    """Returns coverages by quantity: over all tools, and for each."""
    counts: dict[tuple[str, bool, str], list[bool]] = {}
    for each in studied:
        for claim in each.claims:
            for tool in ("all", each.path.tool):
                counts.setdefault((claim.quantity, claim.is_interval, tool), []).append(claim.holds)
    return [
        Coverage(tool, quantity, is_interval, len(held), sum(held))
        for (quantity, is_interval, tool), held in sorted(counts.items(), key=_order)
    ]


def misses(studied: Sequence[Studied]) -> list[tuple[KnownPath, Claim]]:
    return [(each.path, claim) for each in studied for claim in each.claims if not claim.holds]


def _order(item: tuple[tuple[str, bool, str], list[bool]]) -> tuple[str, bool, bool, str]:
    (quantity, is_interval, tool), _ = item
    return quantity, not is_interval, tool != "all", tool


def _read(journal: Path) -> dict[int, Studied]:
    """Returns what the journal has of paths that are still the same."""
    if not journal.exists():
        return {}
    found = {}
    for line in journal.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        path = KnownPath(**entry["path"])
        if path == known_path(path.number):
            found[path.number] = Studied(
                path,
                tuple(Claim(**claim) for claim in entry["claims"]),
                None if entry["worth"] is None else Worth(**entry["worth"]),
            )
    return found
