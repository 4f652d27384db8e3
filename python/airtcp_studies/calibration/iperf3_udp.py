"""What `iperf3 --json --udp` would have written of simulated datagrams."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from airtcp._engine import Scenario
from airtcp.running.scratch import scratch_folder
from airtcp_studies.calibration.iperf3 import document, span, start
from airtcp_studies.calibration.probes import arrivals_s

Json = dict[str, Any]
Floats = npt.NDArray[np.float64]

PAYLOAD_BYTES = 1448
HEADER_BYTES = 28
MOST_AFTER_S = 5.0
"""What still waits in a queue has arrived by then."""


def iperf3_udp(
    path: Scenario, seed: int = 1, *, rate_bps: float, duration_s: float = 10.0, interval_s: float = 1.0
) -> str:
    """Returns the result of `iperf3 --json -c HOST -u -b RATE -t duration` over the forward way of `path`.

    The flows of `path` are replaced by the test's. As iperf3 does, it counts payload.
    """
    traffic = {
        "kind": "udp",
        "packet": f"{PAYLOAD_BYTES + HEADER_BYTES}B",
        "rate": f"{rate_bps * (PAYLOAD_BYTES + HEADER_BYTES) / PAYLOAD_BYTES:.9g}bit/s",
    }
    flows: list[Json] = [
        {"name": "control", "traffic": {"kind": "bytes", "size": "1B"}},
        {"name": "test", "start": "0s", "stop": f"{duration_s:g}s", "traffic": traffic},
    ]
    with scratch_folder() as folder:
        arrived = arrivals_s(path, seed, flows, duration_s + MOST_AFTER_S, folder)
    packets = round(duration_s * rate_bps / 8 / PAYLOAD_BYTES)
    edges = np.append(np.arange(0.0, duration_s - 1e-9, interval_s), duration_s)
    intervals = [_interval(*pair, rate_bps) for pair in pairwise(float(edge) for edge in edges)]
    received = min(len(arrived), packets)
    until_s = max(duration_s, float(arrived[-1])) if len(arrived) else duration_s
    sent = {**_counted(0.0, duration_s, packets), "jitter_ms": 0.0, "lost_packets": 0, "lost_percent": 0.0}
    total = {
        **_counted(0.0, duration_s, packets),
        "jitter_ms": 1e3 * _jitter_s(arrived),
        "lost_packets": packets - received,
        "lost_percent": 100 * (packets - received) / packets,
    }
    reached = {**total, **span(0.0, until_s, received * PAYLOAD_BYTES), "packets": packets, "sender": False}
    streams = [{"udp": {"socket": 5, **total, "out_of_order": 0}}]
    end = {"streams": streams, "sum": total, "sum_sent": sent, "sum_received": reached}
    begin = start("UDP", 1, duration_s, blksize=PAYLOAD_BYTES, rate_bps=rate_bps)
    return document(begin, intervals, end)


def _interval(start_s: float, end_s: float, rate_bps: float) -> Json:
    packets = round((end_s - start_s) * rate_bps / 8 / PAYLOAD_BYTES)
    counted = {**_counted(start_s, end_s, packets), "omitted": False}
    return {"streams": [{"socket": 5, **counted}], "sum": counted}


def _counted(start_s: float, end_s: float, packets: int) -> Json:
    return {**span(start_s, end_s, packets * PAYLOAD_BYTES), "packets": packets, "sender": True}


def _jitter_s(arrived: Floats) -> float:
    """Returns the jitter as RTP's receivers smooth it; datagrams leave evenly."""
    jitter, spacing = 0.0, float(np.median(np.diff(arrived))) if len(arrived) > 1 else 0.0
    for apart in np.diff(arrived):
        jitter += (abs(float(apart) - spacing) - jitter) / 16
    return jitter
