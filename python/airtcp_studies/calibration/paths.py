"""Paths drawn at random whose every property is known, each with the tool that measures it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from airtcp._engine import Scenario

Tool = Literal[
    "ping",
    "fping",
    "irtt",
    "mtr",
    "iperf3",
    "capture",
    "ss",
    "flent",
    "ping, iperf3",
    "ping under load",
    "two pings",
]
TRANSFERS: tuple[Tool, ...] = ("iperf3", "capture", "ss", "ping, iperf3")
PROBERS: tuple[Tool, ...] = ("ping", "fping", "irtt", "mtr")
Limit = Literal["queue", "policer", "hole"]
SIMULATED: tuple[Tool, ...] = ("ping", "capture", "irtt", "ping", "capture", "iperf3")
"""Of the first simulated paths, in turn."""
FIRST_OF_MORE = 240
"""The first simulated path of those that other tools measure."""
POLICED_OF, POLICED = 24, frozenset({11, 22})
"""Of so many simulated paths in turn, these have a policer: one with iperf3, one with a capture."""
TRANSFER: tuple[Tool, ...] = ("ping", "irtt", "iperf3", "capture", "ss", "ping, iperf3", "ping under load")
BEFORE_A_HOLE: tuple[Tool, ...] = ("iperf3", "capture", "ss", "two pings")
MORE: tuple[tuple[Tool, Limit], ...] = (
    ("ss", "queue"),
    ("fping", "queue"),
    ("ss", "queue"),
    ("mtr", "queue"),
    ("ss", "policer"),
    ("flent", "queue"),
)
"""What measures those, and what limits them; in turn."""
REAL: tuple[tuple[tuple[Tool, ...], Limit], ...] = (
    (("ping",), "queue"),
    (TRANSFER, "queue"),
    (("irtt",), "queue"),
    (TRANSFER, "policer"),
    (("fping",), "queue"),
    (TRANSFER, "queue"),
    (("mtr",), "queue"),
    (BEFORE_A_HOLE, "hole"),
    (("ping",), "queue"),
    (TRANSFER, "queue"),
    (("irtt",), "queue"),
    (TRANSFER, "queue"),
)
"""What measures the paths that really run, and what limits them; in turn."""
LOSSES = (0.0, 0.001, 0.003, 0.01, 0.02, 0.03)
BURSTS = (1.0, 1.0, 3.0)
"""Packets lost in a row, on average."""
SPREADS = (0.3, 0.6, 1.0)
"""Standard deviation of the log-normal jitter, in means."""
MEMORIES = (0.0, 0.3, 0.6)
"""Correlation of the jitter after `MEMORY_S`."""
MEMORY_S = 0.2
FEW_QUEUED = 10
FULL_BYTES, ACK_BYTES = 1500, 52
SPARE = 20.0
"""A link behind a policer is this many times as fast."""
HOLES_BYTES = (1280, 1492)
"""The longest packets that pass a hole are between these."""


@dataclass(frozen=True)
class KnownPath:
    """One path. Losses are in each direction, jitter is in the forward one."""

    number: int
    tools: tuple[Tool, ...]
    """What measures it."""
    limit: Limit
    rate_bps: float
    """Of the link, or of the policer."""
    delay_s: float
    """One way."""
    loss: float
    burst: float
    queue_packets: int
    """Room in the queue, or the policer's bucket."""
    mtu_bytes: int
    """Longer packets vanish on the way to the receiver."""
    jitter: Literal["none", "log-normal", "uniform"]
    jitter_mean_s: float
    jitter_deviation_s: float
    memory: float

    @property
    def link_bps(self) -> float:
        return self.rate_bps * SPARE if self.limit == "policer" else self.rate_bps

    @property
    def is_probed(self) -> bool:
        """Whether single packets measure it, and no transfer does."""
        return set(self.tools) <= set(PROBERS)

    @property
    def scenario(self) -> Scenario:
        link: dict[str, object] = {
            "name": "path",
            "rate": f"{self.link_bps:.0f}bit/s",
            "delay": f"{self.delay_s:.9f}s",
            "queue": self._queue(),
            "loss": self._loss(),
        }
        if self.limit == "policer":
            link["reverse"] = {"queue": {"packets": self.queue_packets}}
        if self.jitter != "none":
            link["jitter"] = self._jitter()
            constant = {"distribution": "constant", "mean": "0ms", "overtaking": False}
            link["reverse"] = {"jitter": constant}
        return Scenario.build(name=f"path {self.number}", profile="linux", link=[link])

    def _queue(self) -> dict[str, object]:
        if self.limit != "policer":
            return {"packets": self.queue_packets}
        bucket = f"{FULL_BYTES * self.queue_packets}B"
        return {
            "discipline": "token-bucket",
            "rate": f"{self.rate_bps:.0f}bit/s",
            "burst": bucket,
            "packets": 0,
        }

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
    """Returns path `number` of those that are simulated, always the same."""
    if number >= FIRST_OF_MORE:
        other, limited_by = MORE[number % len(MORE)]
        return _drawn(39, number, (other,), limited_by)
    tool = SIMULATED[number % len(SIMULATED)]
    limit: Limit = "policer" if number % POLICED_OF in POLICED else "queue"
    return _drawn(39, number, (tool,), limit)


def real_path(number: int) -> KnownPath:
    """Returns path `number` of those that really run, always the same."""
    tools, limit = REAL[number % len(REAL)]
    return _drawn(139, number, tools, limit)


def _drawn(stream: int, number: int, tools: tuple[Tool, ...], limit: Limit) -> KnownPath:
    random = np.random.default_rng([stream, number])
    rate_mbps = float(np.exp(random.uniform(math.log(2), math.log(12))))
    rtt_s = float(np.exp(random.uniform(math.log(0.01), math.log(0.2))))
    product = rate_mbps * 1e6 * rtt_s / (8 * FULL_BYTES)
    queue = max(FEW_QUEUED, round(product * float(random.choice([0.5, 1.0, 2.0]))))
    # A transfer's packets follow one another too closely for a delay that is drawn for each.
    is_probed = set(tools) <= set(PROBERS)
    jitter = str(random.choice(["none", "log-normal", "log-normal", "uniform"])) if is_probed else "none"
    mean_s = min(0.04, rtt_s * float(random.uniform(0.05, 0.5)))
    spread = float(random.choice(SPREADS))
    deviation_s = mean_s / math.sqrt(3) if jitter == "uniform" else mean_s * spread
    loss = float(random.choice(LOSSES))
    return KnownPath(
        number=number,
        tools=tools,
        limit=limit,
        rate_bps=round(rate_mbps * 1e6, -3),
        delay_s=rtt_s / 2,
        # A policer's drops alone are told from a queue's.
        loss=0.0 if limit == "policer" else loss,
        burst=float(random.choice(BURSTS)),
        queue_packets=queue,
        jitter=jitter,  # type: ignore[arg-type]
        jitter_mean_s=0.0 if jitter == "none" else mean_s,
        jitter_deviation_s=0.0 if jitter == "none" else deviation_s,
        memory=float(random.choice(MEMORIES)),
        mtu_bytes=int(random.integers(*HOLES_BYTES)) if limit == "hole" else FULL_BYTES,
    )
