"""Measures known paths, fits, and counts how often what a fit claims is true."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from airtcp.fit.findings import Z
from airtcp.running.scratch import scratch_folder
from airtcp_studies.calibration.advised import worth
from airtcp_studies.calibration.claims import Claim, claims
from airtcp_studies.calibration.journal import Journal, Studied
from airtcp_studies.calibration.paths import FIRST_OF_MORE, KnownPath, known_path
from airtcp_studies.calibration.simulated import measured

PATHS = 294
ADVISED_OF, ADVISED = 24, frozenset({1, 5, 10})
"""Of so many paths in turn, for these advice is asked: transfers that were captured, and one of iperf3."""


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
    """Measures a path in the simulator, and fits."""
    path = known_path(number)
    with scratch_folder() as folder:
        found = claims(path, measured(path, folder))
    asked = number < FIRST_OF_MORE and number % ADVISED_OF in ADVISED
    return Studied(path, found.of, found.told, worth(path) if asked else None)


def workers(jobs: int | None) -> Executor:
    """Processes of their own; not by fork, because Polars and the engine have threads."""
    return ProcessPoolExecutor(jobs, get_context("spawn"))


def study(
    paths: int,
    journal: Journal,
    *,
    jobs: int | None = None,
    on_done: Callable[[Studied], object] = lambda _: None,
) -> list[Studied]:
    """Returns the first `paths` paths, studied. Those in the journal are not measured again."""
    with workers(jobs) as executor:
        for done in executor.map(study_path, journal.missing(paths)):
            journal.add(done)
            on_done(done)
    return journal.studied[:paths]


def coverages(studied: Iterable[Studied]) -> list[Coverage]:
    """Returns coverages by quantity: over all tools, and for each."""
    counts: dict[tuple[str, bool, str], list[bool]] = {}
    for each in studied:
        for claim in each.claims:
            for tool in ("all", claim.tool):
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
