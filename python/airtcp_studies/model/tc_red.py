"""RED as a line for Linux's `tc`, which counts bytes and derives the weight from `burst`."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass

PACKET_BYTES = 1000
EXPONENTS = range(1, 32)
LARGEST_BURST = 1 << 17


@dataclass(frozen=True)
class TcRed:
    """RED's parameters as `tc` takes them, in packets of 1000 B."""

    low: int
    high: int
    probability: float
    weight: float
    rate_bps: float

    @property
    def burst(self) -> int:
        """The largest burst from which `tc` derives the weight nearest to the one wanted."""
        wanted = round(-math.log2(self.weight))
        bursts = range(max(self.low, 1), LARGEST_BURST)
        place = bisect_right(bursts, wanted, key=lambda burst: weight_exponent(burst, self.low))
        return bursts[max(place - 1, 0)]

    def line(self) -> str:
        burst = self.burst
        low, high, limit = (PACKET_BYTES * each for each in (self.low, self.high, self.high + burst))
        return (
            f"tc qdisc replace dev DEV root red limit {limit} min {low} max {high} avpkt {PACKET_BYTES} "
            f"burst {burst} probability {self.probability:g} bandwidth {self.rate_bps / 1e3:g}kbit ecn"
        )


def weight_exponent(burst: int, low: int) -> int:
    """Returns log2(1/w) as `tc` chooses it: the least for which a burst into an empty queue leaves the
    average below the minimum threshold (its `tc_red_eval_ewma`)."""
    beyond = burst + 1 - low
    fits = (e for e in EXPONENTS if beyond <= (1 - (1 - 0.5**e) ** burst) / 0.5**e)
    return next(fits, EXPONENTS.stop)
