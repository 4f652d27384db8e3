"""Whether an idea helps: by what it carries, and by the delay that it takes to do so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from airtcp.facts.records import Run
from airtcp.facts.stats import Estimate, relative_gain, separates
from airtcp.facts.summary import goodput_bps, mean_rtt

LEAST_GOODPUT = 0.02
"""Less is no difference worth the name."""
LEAST_DELAY = 0.25
Verdict = Literal["helps", "harms", "trades", "no difference"]


@dataclass(frozen=True)
class Judged:
    """Relative differences to the scheme without the idea, seed by seed; None if there are no values."""

    goodput: Estimate | None
    delay: Estimate | None
    """Of the 95th percentile of round trips."""

    @property
    def verdict(self) -> Verdict:
        """Returns `trades` if one gets better and the other worse."""
        signs = {_sign(self.goodput, LEAST_GOODPUT), -_sign(self.delay, LEAST_DELAY)}
        if {1, -1} <= signs:
            return "trades"
        return "helps" if 1 in signs else "harms" if -1 in signs else "no difference"


def judge(runs: Sequence[Run], base: Sequence[Run]) -> Judged:
    """Compares runs with those of the base with the same seeds, in the same order."""
    return Judged(_gain(runs, base, goodput_bps), _gain(runs, base, _rtt_p95_ms))


def _gain(runs: Sequence[Run], base: Sequence[Run], of: Callable[[Run], float | None]) -> Estimate | None:
    pairs = [
        (value, other)
        for run, without in zip(runs, base, strict=True)
        if (value := of(run)) is not None and (other := of(without)) is not None
    ]
    return relative_gain([value for value, _ in pairs], [other for _, other in pairs])


def _rtt_p95_ms(run: Run) -> float | None:
    return mean_rtt([run], "rtt_p95_ms")


def _sign(gain: Estimate | None, least: float) -> int:
    if gain is None or abs(gain.mean) < least or not separates(gain, 1.0):
        return 0
    return 1 if gain.mean > 0 else -1
