"""RED, which the queues of both networks have in common."""

from __future__ import annotations

from dataclasses import dataclass

HEADER_BYTES = 40
WEIGHT = 0.002
"""Weight of the current queue in the average (Table II)."""


@dataclass(frozen=True)
class Thresholds:
    """RED's thresholds, in packets."""

    low: float
    high: float
    probability: float

    def __str__(self) -> str:
        return f"{self.low:g}/{self.high:g}/{self.probability:g}"

    def queue(self) -> str:
        return (
            f'{{ discipline = "red", packets = 50, ecn = true, min_threshold = {self.low}, '
            f"max_threshold = {self.high}, max_probability = {self.probability}, weight = {WEIGHT}, "
            "gentle = false, wait = true }"
        )


RECOMMENDED = Thresholds(5, 15, 0.1)
