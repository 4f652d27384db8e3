"""Judges how close both sides are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import fmean

from airtcp.facts.stats import Estimate, paired_difference, relative_gain
from airtcp_studies.fidelity.grid import Cell
from airtcp_studies.fidelity.journal import Outcome

AIM = 0.9
"""Share of the decided cells that should be close."""


class Verdict(Enum):
    CLOSE = "close"
    OUTSIDE = "outside"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Aspect:
    """A measure for comparing both, by the ratio of means or by their difference."""

    name: str
    of: Callable[[Outcome], float | None]
    close: float
    """Deviation of the kernel from the simulator that counts as close."""
    wide: float
    """A cell whose interval extends further than this to either side is undecided."""
    is_ratio: bool = True


GOODPUT = Aspect("goodput", lambda run: run.goodput_bps, 0.05, 0.1)
COMPLETION = Aspect("completion time", lambda run: run.completion_s, 0.1, 0.1)
RETRANSMITTED = Aspect("retransmitted share", lambda run: run.retransmitted, 0.005, 0.01, is_ratio=False)
RTT = Aspect("median RTT", lambda run: run.rtt_ms, 0.1, 0.1)
SHARE = Aspect("share of the first of two flows", lambda run: run.first, 0.05, 0.1, is_ratio=False)
ASPECTS = (GOODPUT, COMPLETION, RETRANSMITTED, RTT, SHARE)
FAR = 0.1
"""A larger deviation of goodput needs an explanation."""


@dataclass(frozen=True)
class Judged:
    """One aspect of one cell."""

    aspect: Aspect
    simulated: float
    measured: float
    """Means of the two sides."""
    apart: Estimate
    """The kernel minus the simulator; for a ratio, as a share of the simulator's."""

    @property
    def verdict(self) -> Verdict:
        half_width = self.apart.half_width
        if half_width is None or half_width > self.aspect.wide:
            return Verdict.UNDECIDED
        return Verdict.CLOSE if abs(self.apart.mean) <= self.aspect.close else Verdict.OUTSIDE


@dataclass(frozen=True)
class Compared:
    """One cell on both sides, with the same seeds, which draw the same losses."""

    cell: Cell
    simulated: Sequence[Outcome]
    measured: Sequence[Outcome]

    @property
    def main(self) -> Aspect:
        """The cell's purpose; it is repeated until this is decided."""
        if self.cell.size_kb:
            return COMPLETION
        return SHARE if self.cell.beside else GOODPUT

    @property
    def aspects(self) -> tuple[Aspect, ...]:
        """The aspects that are judged."""
        if self.cell.size_kb:
            return (COMPLETION, RETRANSMITTED)
        return (GOODPUT, RETRANSMITTED, RTT, *([SHARE] if self.cell.beside else []))

    def judged(self, aspect: Aspect) -> Judged | None:
        """Returns None if one side has no value, e.g. no completed transfer."""
        pairs = [
            (here, there)
            for here, there in zip(map(aspect.of, self.simulated), map(aspect.of, self.measured), strict=True)
            if here is not None and there is not None
        ]
        if not pairs:
            return None
        simulated, measured = ([pair[side] for pair in pairs] for side in (0, 1))
        apart = (relative_gain if aspect.is_ratio else paired_difference)(measured, simulated)
        return Judged(aspect, fmean(simulated), fmean(measured), apart) if apart else None

    @property
    def is_settled(self) -> bool:
        """Whether the main aspect is known well enough: to the width that counts as close, within
        the limit of runs."""
        found = self.judged(self.main)
        return (
            found is not None
            and found.apart.half_width is not None
            and found.apart.half_width <= self.main.close
        )

    @property
    def timeouts(self) -> tuple[float, float]:
        """Mean timeouts per run: in the simulator, on the kernel."""
        return fmean(run.timeouts for run in self.simulated), fmean(run.timeouts for run in self.measured)


@dataclass(frozen=True)
class Tally:
    """All cells in one aspect."""

    aspect: Aspect
    cells: int
    decided: int
    close: int

    @property
    def is_reached(self) -> bool:
        return self.close >= AIM * self.decided


def tally(aspect: Aspect, found: Sequence[Compared]) -> Tally:
    judged = [each for cell in found if aspect in cell.aspects and (each := cell.judged(aspect))]
    verdicts = [each.verdict for each in judged]
    decided = [each for each in verdicts if each is not Verdict.UNDECIDED]
    return Tally(aspect, len(verdicts), len(decided), decided.count(Verdict.CLOSE))
