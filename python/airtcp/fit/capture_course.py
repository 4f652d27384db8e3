"""What a capture's transfer did over time, for its repetition."""

from __future__ import annotations

import numpy as np

from airtcp.fit.capture_columns import CaptureColumns
from airtcp.fit.measurement import Arrived, Course, Floats

INTERVAL_S = 1.0
LEAST_INTERVALS = 4
PAUSE = 0.1
"""A second that carries less than this share of the usual one is a pause, maybe of the application."""


def course_of(found: CaptureColumns) -> tuple[Course, Arrived] | None:
    """Returns None unless it has been sending all the time, and its acknowledgments are in the file."""
    way = found["forward"]
    if not way["acks"] or len(way["rtt_s"]) == 0 or way["data_packets"] == 0:
        return None
    begun_s = way["throughput_start_s"]
    sums, width_s = way["throughput_bytes"], way["throughput_interval_s"]
    lasted_s = len(sums) * width_s
    count = int(lasted_s / INTERVAL_S)
    if count < LEAST_INTERVALS:
        return None
    edges: Floats = begun_s + INTERVAL_S * np.arange(count + 1, dtype=np.float64)
    carried, _ = np.histogram(begun_s + width_s * (np.arange(len(sums)) + 0.5), edges, weights=sums)
    if (carried < PAUSE * np.median(carried)).any():
        return None
    samples, _ = np.histogram(way["rtt_time_s"], edges)
    totals, _ = np.histogram(way["rtt_time_s"], edges, weights=way["rtt_s"])
    trips = np.where(samples > 0, totals / np.maximum(samples, 1), np.nan)
    lost, _ = np.histogram(way["fate_time_s"][way["lost"]], edges)
    # What was lost was sent again; so was what only seemed to be.
    resent = lost * (way["retransmissions"] / max(1, int(lost.sum())))
    # Without a handshake the transfer may have begun long before.
    before_s = 0.0 if found["handshake_rtt_s"] is not None else 2 * INTERVAL_S
    course = Course(
        before_s + edges[1:] - begun_s,
        np.full(count, INTERVAL_S),
        trips,
        np.full(count, np.nan),
        resent.astype(np.float64),
    )
    once = 1 - way["retransmissions"] / max(1, way["data_packets"])
    return course, Arrived(float(sums.sum()) * once, lasted_s)
