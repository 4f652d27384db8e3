"""Paths drawn at random on which advice is tried: everything by which schemes differ, in turn."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from airtcp_studies.calibration.paths import FULL_BYTES, KnownPath, Limit, Tool

TOOLS: tuple[Tool, ...] = ("ping", "ping, iperf3", "capture")
"""What measures each path; a ping alone shows no rate."""
ASKED: tuple[Tool, ...] = ("ping, iperf3", "capture")
"""Advice is asked of each of these."""
RATES_MBPS = (2.0, 50.0)
RTTS_S = (0.01, 0.2)
LOSSES = (0.001, 0.003, 0.01, 0.03)
BURST = 3.0
JITTER_SHARES, MOST_JITTER_S = (0.05, 0.3), 0.04
"""Of the round trip, the mean of the jitter."""
SPREADS = (0.3, 0.6)
MEMORY = 0.6
LEAST_QUEUED = 10


@dataclass(frozen=True)
class Kind:
    """What a path has."""

    queue: float
    """Room in bandwidth-delay products; a policer's bucket."""
    limit: Limit = "queue"
    is_lossy: bool = False
    is_bursty: bool = False
    varies: bool = False


KINDS = (
    Kind(1.0, is_lossy=True),
    Kind(0.5, "policer"),
    Kind(0.3),
    Kind(1.0, is_lossy=True, is_bursty=True),
    Kind(1.0, varies=True),
    Kind(4.0),
    Kind(0.5, is_lossy=True, varies=True),
)
"""In turn."""


def tried_path(number: int) -> KnownPath:
    """Returns path `number`, always the same."""
    kind = KINDS[number % len(KINDS)]
    random = np.random.default_rng([239, number])
    rate_mbps, rtt_s = (
        math.exp(random.uniform(math.log(least), math.log(most))) for least, most in (RATES_MBPS, RTTS_S)
    )
    loss = float(random.choice(LOSSES))
    mean_s = min(MOST_JITTER_S, rtt_s * float(random.uniform(*JITTER_SHARES)))
    spread = float(random.choice(SPREADS))
    return KnownPath(
        number=number,
        tools=TOOLS,
        limit=kind.limit,
        rate_bps=round(rate_mbps * 1e6, -3),
        delay_s=rtt_s / 2,
        loss=loss if kind.is_lossy else 0.0,
        burst=BURST if kind.is_bursty else 1.0,
        queue_packets=max(LEAST_QUEUED, round(kind.queue * rate_mbps * 1e6 * rtt_s / (8 * FULL_BYTES))),
        mtu_bytes=FULL_BYTES,
        jitter="log-normal" if kind.varies else "none",
        jitter_mean_s=mean_s if kind.varies else 0.0,
        jitter_deviation_s=spread * mean_s if kind.varies else 0.0,
        memory=MEMORY,
    )
