"""What a comparison has found."""

from __future__ import annotations

from dataclasses import dataclass

from airtcp._engine import Scenario
from airtcp.records import Run
from airtcp.series import Series


@dataclass(frozen=True)
class Comparison:
    """What a comparison has found, ordered by scheme and seed."""

    scenario: Scenario
    runs: list[Run]
    all_series: dict[tuple[str, int], Series]
    """Time series by scheme and seed, of those runs that were to leave one."""
    interrupted: bool
    """Was it stopped before the end?"""

    @property
    def series(self) -> dict[str, Series]:
        """Of each scheme, the time series of its first seed."""
        first = self.scenario.seed
        return {scheme: series for (scheme, seed), series in self.all_series.items() if seed == first}
