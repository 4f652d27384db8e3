"""Looks for the path on which a measured transfer does again what it did.

Three readings compete, each with a search of its own: the transfer overflowed its own queue; a policer
dropped what came faster than its rate; the link lost packets whatever the sender did. A reading's likelihood
is the mean of exp(−misfit / 2) over its paths, with all readings equally likely beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean

from airtcp._engine import Scenario, ScenarioError
from airtcp.fit.bottleneck import PACKET_BYTES, Bottleneck, Cause, Settled
from airtcp.fit.closure.moves import STEP, Steps, based, moves
from airtcp.fit.closure.seen import is_usual, misfit
from airtcp.fit.closure.starts import Starts

MOST_RUNS = 400
"""Simulations of one search."""
AS_WELL = 19.0
"""Misfits differ by less than this where one path explains a transfer as well as another, whatever dropped
its packets. χ² of rate and base would be 5.99, if a misfit were a likelihood: with that, one interval in two
held. On the known paths of the calibration, this is what 95 % need."""
SURE = 0.99
"""No reading is more likely than this: others may be that nobody has thought of."""
PROFILE = (0.5, 0.65, 0.8, 0.9, 1.1, 1.25, 1.5)
"""Bases that are tried beside the best, as shares of it."""
FEW_PACKETS, RARER = 16.0, 0.3
"""Queues and bursts of fewer packets are rare, and the rarer the fewer: half a normal distribution of the
logarithm."""
HOPELESS = 40.0
"""A reading whose misfit exceeds the best by this is not refined."""
FASTER_THAN_ARRIVED = (1.1, 2.0, 4.0)
FASTER = 1.5
"""If losses explain the transfer on a link so many times as fast as the best, its rate is open."""
SEEDS: dict[Cause, int] = {"own queue": 1, "policer": 1, "random": 3}
CONFIRMING_SEEDS, MOST_CONFIRMED = 9, 6
STEPS_IN_VIEW = Steps(0.06, 0.12, 4)
"""A queue that stood shows both;"""
STEPS_OF_POLICER = Steps(0.06, 0.0, 4)
STEPS_OUT_OF_VIEW = Steps(0.5, 0.5, 3)
"""losses hide both."""
STEPS_BESIDES = Steps(0.12, 0.25, 2)
STEPS_AT_ONE_RATE = Steps(0.0, 0.5, 2)


@dataclass
class Search:
    """The runs so far."""

    starts: Starts
    tried: dict[Bottleneck, float] = field(default_factory=dict)
    runs: int = 0
    usual: set[Bottleneck] = field(default_factory=set)
    """Paths on which chance may do to the transfer what it saw."""
    confirmed: set[Bottleneck] = field(default_factory=set)
    """Paths that have run with more seeds."""

    def settle(self) -> Settled | None:
        """Returns None if nothing could be run."""
        starts = self.starts
        self._descend(starts.own_queue(), STEPS_IN_VIEW)
        self._descend(starts.policer(), STEPS_OF_POLICER)
        self._descend(starts.random(FASTER_THAN_ARRIVED), STEPS_OUT_OF_VIEW)
        for overflowed in self._of("own queue")[:1]:
            self._descend(starts.besides(overflowed), STEPS_BESIDES)
        self._confirm()
        self._profile()
        if not self.tried:
            return None
        fast_bps = FASTER * min(self.tried, key=self.tried.__getitem__).rate_bps
        self._descend(starts.random([fast_bps / starts.arrived_bps]), STEPS_AT_ONE_RATE)
        self._confirm()
        self._confirm(fast_bps)
        self._confirm_ends()
        return self._settled(fast_bps)

    def _settled(self, fast_bps: float) -> Settled:
        """Returns what all runs say. A rate is open if a link of at least `fast_bps` explains the transfer as
        well, or if so much less arrived that the link was never full."""
        weights = {cause: self._evidence(cause) for cause in dict.fromkeys(p.cause for p in self.tried)}
        alike = [*self._alike(), *self.usual]
        fast = [path for path in alike if path.rate_bps >= fast_bps]
        first = min(self.tried, key=self.tried.__getitem__)
        is_hidden = first.cause == "random" and first.rate_bps >= FASTER * self.starts.arrived_bps
        rates = (
            None if fast or is_hidden else _hull([path.rate_bps for path in alike], STEPS_IN_VIEW.rate / 4)
        )
        bases = self._bases()
        total = sum(weights.values())
        ranked = tuple(
            (self._of(cause)[0], _tempered(weights[cause] / total, len(weights)))
            for cause in sorted(weights, key=lambda cause: -weights[cause])
        )
        best = ranked[0][0]
        lossy = [path for path in fast if path.cause == best.cause == "random"]
        faster = min(lossy, key=self.tried.__getitem__, default=None)
        return Settled(best, ranked, rates, bases, self.runs, faster)

    def _alike(self) -> list[Bottleneck]:
        """Returns the paths that explain the transfer as well as the best."""
        least = min(self.tried.values())
        return [path for path, value in self.tried.items() if value < least + AS_WELL]

    def _bases(self) -> tuple[float, float]:
        """Returns between which bases a path explains the transfer as well, unless the base is known."""
        known = self.starts.known.base_s
        if known is not None:
            return known.low or known.best, known.high or known.best
        low, high = _hull([path.base_s for path in self._alike()], STEP / 4)
        return low, min(high, self.starts.most_base_s)

    def _of(self, cause: Cause) -> list[Bottleneck]:
        """Returns the paths of that cause, the best first."""
        return sorted((p for p in self.tried if p.cause == cause), key=self.tried.__getitem__)

    def _evidence(self, cause: Cause) -> float:
        """Returns the mean likelihood of that cause's paths, relative to the best path of all.

        Its best path alone would be too much: where little differences change all, one of many agrees by
        chance.
        """
        least = min(self.tried.values())
        return fmean(math.exp(-(self.tried[path] - least) / 2) for path in self._of(cause))

    def _descend(self, starts: Iterable[Bottleneck], steps: Steps) -> None:
        """Tries all, and then steps from the best of them, in one quantity after the other."""
        best = self._best(starts)
        for halved in range(steps.rounds if best is not None else 0):
            for move in moves(best.cause, steps, self.starts.known) if best is not None else ():
                if best is None or self.tried[best] > min(self.tried.values()) + HOPELESS:
                    return
                best = self._best([best, *move(best, 0.5**halved)])

    def _profile(self) -> None:
        """Tries other bases than the best, which a queue that never empties hides: for its interval."""
        best = min(self.tried, key=self.tried.__getitem__, default=None)
        if best is not None and best.cause != "policer" and self.starts.known.base_s is None:
            for factor in PROFILE:
                self._try(based(best, factor * best.base_s))

    def _best(self, paths: Iterable[Bottleneck]) -> Bottleneck | None:
        values = {path: value for path in paths if (value := self._try(path)) is not None}
        return min(values, key=values.__getitem__, default=None)

    def _try(self, path: Bottleneck) -> float | None:
        """Returns the misfit; None if the path cannot be, the engine does not know it, or the runs are
        spent."""
        if path in self.tried:
            return self.tried[path]
        if path.base_s > self.starts.most_base_s:
            return None
        seeds = SEEDS[path.cause]
        if self.runs + seeds > MOST_RUNS:
            return None
        try:
            scenario = Scenario.parse(path.toml)
        except ScenarioError:
            return None
        self.tried[path] = self._run(path, scenario, seeds)
        return self.tried[path]

    def _run(self, path: Bottleneck, scenario: Scenario, seeds: int) -> float:
        self.runs += seeds
        of_clocks = self.starts.transfer.run(scenario, seeds)
        self.usual.discard(path)
        if path.cause == "random" and any(is_usual(self.starts.seen, runs) for runs in of_clocks):
            self.usual.add(path)
        return min(misfit(self.starts.seen, runs) for runs in of_clocks) + _rare(path)

    def _confirm(self, least_bps: float = 0.0) -> None:
        """Runs the best path with losses at random again, with more seeds, until the best one is a path that
        has had them: of many that had few, the best is one that chance has favoured."""
        for _ in range(MOST_CONFIRMED):
            best = next((path for path in self._of("random") if path.rate_bps >= least_bps), None)
            if best is None or best in self.confirmed:
                return
            self._run_again(best)

    def _confirm_ends(self) -> None:
        """Does the same for the paths with the least and the greatest base of those that explain the transfer
        as well as the best."""
        if self.starts.known.base_s is not None:
            return
        for farthest in (min, max):
            for _ in range(MOST_CONFIRMED):
                end = farthest(self._alike(), key=lambda path: path.base_s)
                if end.cause != "random" or end in self.confirmed:
                    break
                self._run_again(end)

    def _run_again(self, path: Bottleneck) -> None:
        self.tried[path] = self._run(path, Scenario.parse(path.toml), CONFIRMING_SEEDS)
        self.confirmed.add(path)


def _rare(path: Bottleneck) -> float:
    """Returns what makes a path unlikely beforehand: next to no queue, or next to no burst."""
    packets = path.burst_bytes / PACKET_BYTES if path.cause == "policer" else path.room_packets
    return max(0.0, math.log(FEW_PACKETS / max(packets, 1.0)) / RARER) ** 2


def _hull(values: list[float], resolution: float) -> tuple[float, float]:
    """Returns the least and the largest, as far apart as the steps of the search can tell."""
    return min(values) / (1 + resolution), max(values) * (1 + resolution)


def _tempered(share: float, count: int) -> float:
    if count == 1:
        return SURE
    return SURE * share + (1 - SURE) / count
