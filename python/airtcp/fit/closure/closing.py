"""Settles what a transfer leaves open, and checks the fitted path by the transfer itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from airtcp._engine import Scenario
from airtcp.fit.bottleneck import Settled
from airtcp.fit.closure.again import OTHERS, USUAL, Repeated, repeated
from airtcp.fit.closure.known import known
from airtcp.fit.closure.searching import Search
from airtcp.fit.closure.seen import Seen, measured
from airtcp.fit.closure.starts import Starts
from airtcp.fit.draft import number, rate
from airtcp.fit.estimates import Estimates
from airtcp.fit.evidence import Evidence, From
from airtcp.fit.findings import Unknown
from airtcp.fit.measurement import Measurement
from airtcp.fit.policer import examined, settled_policer

GOODPUT_WITHIN, ROUND_TRIP_WITHIN, ROUND_TRIP_WITHIN_S = 0.1, 0.15, 2e-3
"""Bounds on how far the transfer's repetition may be off: shares, and seconds in addition."""
RESENT_FACTOR, RESENT_FEW = 2.5, 10.0
"""Retransmissions may differ by this factor, and by a few besides."""
CHANCE = 2.5
"""Chance on a lossy path explains this many standard deviations of the goodput."""
CHECK_PACKETS = 60_000
SEEDS = 5
NOT_CLOSED = "why the transfer went as it did"
"""The quantity that is unknown where the check fails."""


@dataclass(frozen=True)
class Check:
    """The measured transfer beside its repetition on the fitted path, the mean over some seeds."""

    file: str
    scheme: str
    scheme_assumed: bool
    """Whether the file does not name a controller that the simulator has."""
    goodput_bps: float
    goodput_again_bps: float
    """Payload that arrived."""
    round_trip_s: float | None
    round_trip_again_s: float | None
    """Mean of the smoothed round trips; None if the file has none."""
    retransmissions: float | None
    retransmissions_again: float | None
    """None if the file does not count them."""
    window_bytes: float | None
    """Window of each connection, if that held the transfer back; None if the path did."""
    off: tuple[str, ...]
    """What is beyond its bounds: `goodput`, `round trip`, `retransmissions`."""

    @property
    def holds(self) -> bool:
        return not self.off

    @property
    def text(self) -> str:
        """The check on one line."""
        parts = [f"{rate(self.goodput_again_bps)} of {rate(self.goodput_bps)}"]
        if self.round_trip_s is not None and self.round_trip_again_s is not None:
            parts.append(f"RTT {_ms(self.round_trip_again_s)} ms of {_ms(self.round_trip_s)}")
        if self.retransmissions is not None and self.retransmissions_again is not None:
            parts.append(f"{self.retransmissions_again:.0f} retransmissions of {self.retransmissions:.0f}")
        assumed = f" ({self.scheme} assumed)" if self.scheme_assumed else ""
        if self.window_bytes is not None:
            window = number(self.window_bytes / 1e3, 3)
            assumed += f" (held back by a window of {window} kB: a buffer or the application, not the path)"
        verdict = "" if self.holds else f". They do not agree: {', '.join(self.off)}"
        return f"The measured transfer again on the fitted path{assumed}: {', '.join(parts)}{verdict}."


def not_closed(found: Check) -> Unknown:
    """Returns what a failed check leaves open, for which nothing can be advised."""
    return Unknown(
        NOT_CLOSED,
        found.text,
        "The path is as fitted, which does not explain the transfer: no forecast on it can be trusted.",
        "Add a ping log of the idle path, or a capture taken at the sender; or give --rate.",
    )


def settle(evidence: Evidence, estimates: Estimates, rate_bps: float | None) -> From[Settled] | None:
    """Returns the path that explains the transfer best; None if nothing is open or no transfer shows it.

    `rate_bps` is the forward rate if the user gives it.
    """
    source = _source(evidence)
    if source is None or "forward" in evidence.capacity:
        return None
    fates = examined(evidence, source)
    if rate_bps is None and fates.policer is not None:
        return From(settled_policer(fates.policer, evidence, source), source)
    if _has_estimate(evidence):
        return None
    found = _both(source)
    if found is None or found[0].window_bytes is not None:
        return None
    transfer, seen = found
    beforehand = known(evidence, estimates, source, seen, rate_bps)
    starts = Starts(transfer, seen, replace(beforehand, may_be_policed=fates.is_possible))
    settled = Search(starts).settle()
    if settled is None:
        return None
    # On a slower link, what another scheme could gain would be missed.
    faster = settled.faster
    if faster is not None and _checked(source.source.name, transfer, seen, Scenario.parse(faster.toml)).holds:
        settled = settled.assuming(faster)
    return From(settled, source)


def check(evidence: Evidence, path: Scenario) -> Check | None:
    """Repeats the transfer on the fitted path; None if no file has one that could be repeated."""
    source = _source(evidence)
    found = _both(source, CHECK_PACKETS) if source is not None else None
    if source is None or found is None:
        return None
    transfer, seen = found
    name = From(None, source).name
    if not transfer.is_assumed:
        return _checked(name, transfer, seen, path)
    # A file that does not name the controller is repeated with the usual one, then with others.
    usual = _checked(name, replace(transfer, scheme=USUAL), seen, path)
    if usual.holds:
        return usual
    others = (_checked(name, replace(transfer, scheme=scheme), seen, path) for scheme in OTHERS)
    return next((each for each in others if each.holds), usual)


def _checked(name: str, transfer: Repeated, seen: Seen, path: Scenario) -> Check:
    runs, *_ = transfer.run(path, SEEDS)
    goodputs = [run.goodput_bps for run in runs]
    goodput = float(np.mean(goodputs))
    chance = CHANCE * _by_chance(goodputs, seen.retransmissions)
    trip, trip_again = _known(seen.round_trip_s), _mean([run.round_trip_s for run in runs])
    counts = [run.retransmissions for run in runs]
    resent, resent_again = _known(seen.retransmissions), _mean(counts)
    apart = abs(goodput - seen.goodput_bps)
    off = [] if apart <= max(chance, GOODPUT_WITHIN * seen.goodput_bps) else ["goodput"]
    if trip is not None and trip_again is not None and not _near(trip, trip_again):
        off.append("round trip")
    # Where chance decides whether slow start overflows, some seeds have many more than others.
    by_chance = resent is not None and min(counts) <= resent <= max(counts)
    if resent is not None and resent_again is not None and not (_alike(resent, resent_again) or by_chance):
        off.append("retransmissions")
    return Check(
        name,
        transfer.scheme,
        transfer.is_assumed,
        seen.goodput_bps,
        goodput,
        trip,
        trip_again if trip is not None else None,
        resent,
        resent_again if resent is not None else None,
        transfer.window_bytes,
        tuple(off),
    )


def _by_chance(goodputs: list[float], resent: float) -> float:
    """Returns the deviation of a goodput that losses decide: over seeds and, since it goes with 1/√loss, of a
    file with so many losses. Zero where nothing is left to chance."""
    over_seeds = float(np.std(goodputs, ddof=1))
    if over_seeds == 0 or not resent > 0:
        return over_seeds
    return max(over_seeds, 0.5 / math.sqrt(resent) * float(np.mean(goodputs)))


def _source(evidence: Evidence) -> Measurement | None:
    """Returns the measurement of the transfer: the one that says what was reached, or what was resent."""
    answers = [evidence.reached.get("forward"), evidence.resent, evidence.loaded]
    sources = [answer.source for answer in answers if answer is not None]
    return next((source for source in sources if _both(source) is not None), None)


def _both(source: Measurement, most_packets: int | None = None) -> tuple[Repeated, Seen] | None:
    seen = measured(source)
    if seen is None or source.transfer is None or source.transfer.direction != "forward":
        return None
    again = repeated(source.transfer, *([most_packets] if most_packets else []))
    return None if again is None else (again, seen.first(again.intervals))


def _has_estimate(evidence: Evidence) -> bool:
    found = evidence.link_rate.get("forward")
    return found is not None and found.what.estimate_bps is not None


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= ROUND_TRIP_WITHIN * one + ROUND_TRIP_WITHIN_S


def _alike(one: float, other: float) -> bool:
    return max(one, other) <= RESENT_FACTOR * min(one, other) + RESENT_FEW


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _mean(values: list[float]) -> float | None:
    known = [value for value in values if math.isfinite(value)]
    return float(np.mean(known)) if known else None


def _ms(seconds: float) -> str:
    return number(1e3 * seconds, 3)
