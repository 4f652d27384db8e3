"""Paths drawn at random whose every property is known, each with the tool that measures it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from airtcp._engine import Scenario

Tool = Literal["ping", "irtt", "capture", "iperf3"]
TOOLS: tuple[Tool, ...] = ("ping", "capture", "irtt", "ping", "capture", "iperf3")
"""In turn."""
LOSSES = (0.0, 0.001, 0.003, 0.01, 0.02, 0.03)
BURSTS = (1.0, 1.0, 3.0)
"""Packets lost in a row, on average."""
SPREADS = (0.3, 0.6, 1.0)
"""Standard deviation of the log-normal jitter, in means."""
MEMORIES = (0.0, 0.3, 0.6)
"""Correlation of the jitter after `MEMORY_S`."""
MEMORY_S = 0.2
FEW_QUEUED = 10


@dataclass(frozen=True)
class KnownPath:
    """One path. Losses are in each direction, jitter is in the forward one."""

    number: int
    tool: Tool
    rate_bps: float
    delay_s: float
    """One way."""
    loss: float
    burst: float
    queue_packets: int
    jitter: Literal["none", "log-normal", "uniform"]
    jitter_mean_s: float
    jitter_deviation_s: float
    memory: float

    @property
    def scenario(self) -> Scenario:
        link: dict[str, object] = {
            "name": "path",
            "rate": f"{self.rate_bps:.0f}bit/s",
            "delay": f"{self.delay_s:.9f}s",
            "queue": {"packets": self.queue_packets},
            "loss": self._loss(),
        }
        if self.jitter != "none":
            link["jitter"] = self._jitter()
            constant = {"distribution": "constant", "mean": "0ms", "overtaking": False}
            link["reverse"] = {"jitter": constant}
        return Scenario.build(name=f"path {self.number}", profile="linux", link=[link])

    def _loss(self) -> dict[str, object]:
        if self.burst == 1.0 or self.loss == 0.0:
            return {"packet": self.loss}
        to_good = 1 / self.burst
        return {"burst": {"to_good": to_good, "to_bad": to_good * self.loss / (1 - self.loss)}}

    def _jitter(self) -> dict[str, object]:
        if self.jitter == "uniform":
            half = self.jitter_deviation_s * math.sqrt(3)
            low, high = self.jitter_mean_s - half, self.jitter_mean_s + half
            return {
                "distribution": "uniform",
                "low": f"{max(0.0, low):.9f}s",
                "high": f"{high:.9f}s",
                "overtaking": False,
            }
        return {
            "distribution": "correlated",
            "mean": f"{self.jitter_mean_s:.9f}s",
            "deviation": f"{self.jitter_deviation_s:.9f}s",
            "autocorrelation": self.memory,
            "interval": f"{MEMORY_S}s",
            "overtaking": False,
        }


def known_path(number: int) -> KnownPath:
    """Returns path `number`, always the same."""
    random = np.random.default_rng([39, number])
    tool = TOOLS[number % len(TOOLS)]
    rate_mbps = float(np.exp(random.uniform(math.log(2), math.log(12))))
    rtt_s = float(np.exp(random.uniform(math.log(0.01), math.log(0.2))))
    product = rate_mbps * 1e6 * rtt_s / 12_000
    queue = max(FEW_QUEUED, round(product * float(random.choice([0.5, 1.0, 2.0]))))
    # A transfer's packets follow one another too closely for a delay that is drawn for each.
    is_probed = tool in ("ping", "irtt")
    jitter = str(random.choice(["none", "log-normal", "log-normal", "uniform"])) if is_probed else "none"
    mean_s = min(0.04, rtt_s * float(random.uniform(0.05, 0.5)))
    spread = float(random.choice(SPREADS))
    deviation_s = mean_s / math.sqrt(3) if jitter == "uniform" else mean_s * spread
    return KnownPath(
        number=number,
        tool=tool,
        rate_bps=round(rate_mbps * 1e6, -3),
        delay_s=rtt_s / 2,
        loss=float(random.choice(LOSSES)),
        burst=float(random.choice(BURSTS)),
        queue_packets=queue,
        jitter=jitter,  # type: ignore[arg-type]
        jitter_mean_s=0.0 if jitter == "none" else mean_s,
        jitter_deviation_s=0.0 if jitter == "none" else deviation_s,
        memory=float(random.choice(MEMORIES)),
    )
