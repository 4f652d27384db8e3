"""Looks for the path on which a measured transfer does again what it did.

Three readings compete, each with a search of its own: the transfer overflowed its own queue; a policer
dropped what came faster than its rate; the link lost packets whatever the sender did. A reading's likelihood
is the mean of exp(−misfit / 2) over its paths, with all readings equally likely beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from airtcp._engine import Scenario, ScenarioError
from airtcp.fit.bottleneck import PACKET_BYTES, Bottleneck, Cause, Settled
from airtcp.fit.closure.again import Repeated
from airtcp.fit.closure.seen import Seen, is_usual, misfit

MOST_RUNS = 120
"""Simulations of one search."""
AS_WELL = 19.0
"""Misfits differ by less than this where one path explains a transfer as well as another, whatever dropped
its packets. χ² of rate and base would be 5.99, if a misfit were a likelihood: with that, one interval in two
held. On the known paths of the calibration, this is what 95 % need."""
SURE = 0.99
"""No reading is more likely than this: others may be that nobody has thought of."""
STEPS: dict[Cause, int] = {"own queue": 4, "policer": 2, "random": 2}
"""Rounds of refinement; each halves the steps."""
RATE_STEP, STEP = 0.06, 0.25
"""The first steps, as shares: of the rate, which is known best, and of everything else."""
PROFILE = (0.5, 0.65, 0.8, 0.9, 1.1, 1.25, 1.5)
"""Bases that are tried beside the best, as shares of it."""
FEW_PACKETS, RARER = 16.0, 0.3
"""Queues and bursts of fewer packets are rare, and the rarer the fewer: half a normal distribution of the
logarithm."""
HOPELESS = 40.0
"""A reading whose misfit exceeds the best by this is not refined."""
BASES = (0.08, 0.13, 0.2, 0.3, 0.42, 0.6, 0.8, 0.95)
"""The empty path's round trip, as shares of the longest one."""
UNSEEN, USUAL_BASE_S = (1.4, 2.0, 3.0, 5.0, 9.0), 0.05
"""Without any round trips, the longest is one of these multiples of the empty path's, which is assumed."""
FLAT = 1.6
"""A policer has no queue: its longest round trips are less than this times the shortest."""
DEFAULT_ROOM_PACKETS = 50.0
SEEDS: dict[Cause, int] = {"own queue": 1, "policer": 1, "random": 3}


@dataclass(frozen=True)
class Known:
    """What other evidence says; None if nothing."""

    rate_bps: float | None = None
    base_s: float | None = None
    loss: float | None = None


@dataclass
class Search:
    """The runs so far."""

    transfer: Repeated
    seen: Seen
    known: Known
    tried: dict[Bottleneck, float] = field(default_factory=dict)
    runs: int = 0
    is_open: bool = False
    """Losses at random may do to the transfer what it saw, on a link of whatever rate."""

    def settle(self) -> Settled | None:
        """Returns None if nothing could be run."""
        for starts in (self._own_queue(), self._policer(), self._random()):
            self._descend(list(starts))
        self._profile()
        if not self.tried:
            return None
        weights = {cause: self._evidence(cause) for cause in dict.fromkeys(p.cause for p in self.tried)}
        shares = {self._of(cause)[0]: weight / sum(weights.values()) for cause, weight in weights.items()}
        ranked = tuple(
            (path, _tempered(shares[path], len(shares)))
            for path in sorted(shares, key=lambda path: -shares[path])
        )
        least = self.tried[ranked[0][0]]
        alike = [path for path, value in self.tried.items() if value < least + AS_WELL]
        is_open = self.is_open or any(path.cause == "random" for path in alike)
        rates = None if is_open else _hull([path.rate_bps for path in alike], RATE_STEP / 4)
        bases = _hull([path.base_s for path in alike], STEP / 4)
        return Settled(ranked[0][0], ranked, rates, bases, self.runs)

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

    @property
    def _longest_s(self) -> float:
        known = np.isfinite(self.seen.srtt_s).any()
        return float(np.nanmax(self.seen.srtt_s)) if known else UNSEEN[1] * self._shortest_s

    @property
    def _shortest_s(self) -> float:
        known = np.isfinite(self.seen.srtt_s).any()
        return float(np.nanmin(self.seen.srtt_s)) if known else self.known.base_s or USUAL_BASE_S

    @property
    def _arrived_bps(self) -> float:
        return self.transfer.arrived.rate_bps

    @property
    def _standing_bps(self) -> float:
        """The rate of IP packets while a queue stands: all windows per round trip."""
        rates = self.seen.cwnd_bytes / self.seen.srtt_s
        if not np.isfinite(rates).any():
            return 1.02 * self._arrived_bps
        rates = rates[self.seen.srtt_s >= np.nanmedian(self.seen.srtt_s)]
        bps = 8 * float(np.nanmedian(rates)) * self.transfer.connections / self.transfer.payload_share
        return min(max(bps, self._arrived_bps), 2 * self._arrived_bps)

    @property
    def _resent_share(self) -> float:
        packets = self.transfer.arrived.ip_bytes / PACKET_BYTES
        return min(0.5, self.seen.retransmissions / max(packets, 1.0))

    def _own_queue(self) -> Iterator[Bottleneck]:
        rate_bps = self.known.rate_bps or self._standing_bps
        longest_s = 1.02 * self._longest_s
        bases = (
            [self.known.base_s]
            if self.known.base_s
            else [share * longest_s for share in BASES if share * longest_s <= 1.02 * self._shortest_s]
        )
        is_seen = np.isfinite(self.seen.srtt_s).any()
        for base_s in bases or [self._shortest_s]:
            for most_s in (longest_s,) if is_seen else (times * base_s for times in UNSEEN):
                room = max(2.0, (most_s - base_s) * rate_bps / 8 / PACKET_BYTES)
                yield Bottleneck("own queue", rate_bps, base_s, room, self.known.loss or 0.0)

    def _policer(self) -> Iterator[Bottleneck]:
        is_seen = np.isfinite(self.seen.srtt_s).any()
        if (is_seen and self._longest_s > FLAT * self._shortest_s) or not self.seen.retransmissions > 0:
            return
        rate_bps = self.known.rate_bps or self._arrived_bps
        base_s = self.known.base_s or self._shortest_s
        for faster in (1.0, 1.3, 1.8) if self.known.rate_bps is None else (1.0,):
            for kilobytes in (8, 15, 30, 60, 125, 500):
                burst_bytes = kilobytes * 1e3
                yield Bottleneck(
                    "policer", faster * rate_bps, base_s, 0.0, self.known.loss or 0.0, burst_bytes
                )

    def _random(self) -> Iterator[Bottleneck]:
        share = self.known.loss or self._resent_share
        if not share > 0:
            return
        base_s = self.known.base_s or self._shortest_s
        for faster in (1.05, 2.5) if self.known.rate_bps is None else (1.0,):
            rate_bps = faster * (self.known.rate_bps or self._arrived_bps)
            packets_per_s = rate_bps / 8 / PACKET_BYTES
            room = max(DEFAULT_ROOM_PACKETS, base_s * packets_per_s)
            for loss in (share,) if self.known.loss else (0.6 * share, share):
                for more in (1, 3):
                    yield Bottleneck("random", rate_bps, base_s, more * room, loss)

    def _descend(self, starts: list[Bottleneck]) -> None:
        """Tries all, and then steps in each quantity from the best of them."""
        best = self._best(starts)
        for halved in range(STEPS[best.cause] if best is not None else 0):
            if best is None or self.tried[best] > min(self.tried.values()) + HOPELESS:
                return
            best = self._best([best, *_neighbours(best, 0.5**halved, self.known)])

    def _profile(self) -> None:
        """Tries other bases than the best, which a queue that never empties hides: for its interval."""
        best = min(self.tried, key=self.tried.__getitem__, default=None)
        if best is not None and best.cause == "own queue" and self.known.base_s is None:
            for factor in PROFILE:
                self._try(_based(best, factor * best.base_s))

    def _best(self, paths: Iterable[Bottleneck]) -> Bottleneck | None:
        values = {path: value for path in paths if (value := self._try(path)) is not None}
        return min(values, key=values.__getitem__, default=None)

    def _try(self, path: Bottleneck) -> float | None:
        """Returns the misfit; None if the engine does not know the path, or the runs are spent."""
        if path in self.tried:
            return self.tried[path]
        seeds = SEEDS[path.cause]
        if self.runs + seeds > MOST_RUNS:
            return None
        try:
            scenario = Scenario.parse(path.toml)
        except ScenarioError:
            return None
        self.runs += seeds
        of_clocks = self.transfer.run(scenario, seeds)
        found = min(misfit(self.seen, runs) for runs in of_clocks) + _rare(path)
        self.is_open |= path.cause == "random" and any(is_usual(self.seen, runs) for runs in of_clocks)
        self.tried[path] = found
        return found


def _neighbours(path: Bottleneck, step: float, known: Known) -> Iterator[Bottleneck]:
    """Yields what differs in one quantity. A longer base leaves the longest round trip as it is."""
    up = 1 + RATE_STEP * step
    if known.rate_bps is None:
        for factor in (up, 1 / up):
            yield path.with_(rate_bps=path.rate_bps * factor, room_packets=path.room_packets * factor)
    by = 1 + STEP * step
    if path.cause == "policer":
        changes: list[Callable[[float], Bottleneck]] = [
            lambda times: path.with_(burst_bytes=path.burst_bytes * times**3)
        ]
    else:
        power = 0.5 if path.cause == "own queue" else 1.5
        changes = [lambda times: path.with_(room_packets=path.room_packets * times**power)]
        if path.cause == "random" and known.loss is None:
            changes.append(lambda times: path.with_(loss=min(0.6, path.loss * times**1.5)))
    if known.base_s is None:
        changes.append(lambda times: _based(path, path.base_s * times))
    for change in changes:
        yield change(by)
        yield change(1 / by)


def _based(path: Bottleneck, base_s: float) -> Bottleneck:
    longer = (base_s - path.base_s) * path.rate_bps / 8 / PACKET_BYTES
    room = path.room_packets if path.cause == "policer" else max(2.0, path.room_packets - longer)
    return path.with_(base_s=base_s, room_packets=room)


def _rare(path: Bottleneck) -> float:
    """Returns what makes a path unlikely beforehand: next to no queue, or next to no burst."""
    if path.cause == "random":
        return 0.0
    packets = path.room_packets if path.cause == "own queue" else path.burst_bytes / PACKET_BYTES
    return max(0.0, math.log(FEW_PACKETS / max(packets, 1.0)) / RARER) ** 2


def _hull(values: list[float], resolution: float) -> tuple[float, float]:
    """Returns the least and the largest, as far apart as the steps of the search can tell."""
    return min(values) / (1 + resolution), max(values) * (1 + resolution)


def _tempered(share: float, count: int) -> float:
    if count == 1:
        return SURE
    return SURE * share + (1 - SURE) / count
