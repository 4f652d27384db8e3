"""Simulates a measured transfer: its controller, its connections, its duration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from airtcp._engine import Record, Scenario, schemes
from airtcp.fit.closure.seen import Seen
from airtcp.fit.measurement import Arrived, Course, Floats, Transfer

USUAL = "cubic"
"""Assumed if a file does not name the controller, or names one that the simulator does not have."""
OTHERS = ("bbr", "reno")
"""Tried where the usual one, assumed, does not do what was measured."""
MOST_PACKETS = 16_000
"""A run is shortened to this many packets."""
LEAST_INTERVALS = 3
GROWING = ("cubic", "reno", "westwood", "hybla", "veno")
"""Controllers that fill any queue until they lose something."""
FLAT, FLAT_S = 1.1, 1e-3
"""Round trips that differ by less are those of a queue that is not growing: as a factor, and beside it."""
MOST_CONNECTIONS, MOST_INTERVALS = 128, 1000
SHORTEST_S, LONGEST_S = 1e-3, 7200.0
LEAST_BPS, MOST_BPS = 1e3, 1e12
LEAST_WINDOW_BYTES = 3000.0
"""Two full packets."""
LATE = 0.9
"""Share of a run after which its goodput is read."""
RESENT = ("retransmit", "fast-retransmit")
"""Events that are retransmissions."""
CLOCKS = (0.5, 0.0, 1.0)
"""Shares of the handshake, which takes a round trip, after which a file's clock may begin."""
SAMPLES = 4
"""Samples of the simulator per measured interval."""


@dataclass(frozen=True)
class Repeated:
    """A transfer to be run again."""

    course: Course
    arrived: Arrived
    payload_share: float
    connections: int
    scheme: str
    is_assumed: bool
    """Whether the controller is assumed."""
    intervals: int
    """How many of the transfer's intervals are run."""
    window_bytes: float | None = None
    """Of each connection, if that and not the path held it back: its buffers, or its application."""

    def run(self, path: Scenario, seeds: int) -> list[list[Seen]]:
        """Runs it on the path's links, in place of its flows, over several seeds.

        When in the handshake a file's clock began is unknown: returns, for each of `CLOCKS`, all runs.
        """
        course = self.course
        scheme = self.scheme
        if self.window_bytes is not None:
            scheme += f":receive_window={round(self.window_bytes)}B"
        spacing_s = float(np.median(course.interval_s)) / SAMPLES
        end_s = float(course.end_s[self.intervals - 1])
        duration_s = end_s + 4 * spacing_s
        test = path.vary(
            {
                "flow": [{"name": "test", "count": self.connections, "start": "0s"}],
                "duration": f"{duration_s:.6f}s",
                "warmup": "0s",
                "profile": "linux",
                "enter_recordings": "by-seed",
                "schemes": [scheme],
            }
        )
        records = [test.run(scheme, seed, series_interval_s=spacing_s) for seed in range(1, 1 + seeds)]
        return [[self._seen(record, clock) for record in records] for clock in CLOCKS]

    def _seen(self, record: Record, clock: float) -> Seen:
        """Reads off what a sender's host would say at the end of each interval."""
        columns = record.flow_series()
        flow, time_s = np.array(columns["flow"]), np.array(columns["time_ns"]) / 1e9
        own = flow == flow[0] if len(flow) else np.zeros(0, dtype=np.bool_)
        times, count = time_s[own], self.connections
        ends = self.course.end_s[: self.intervals]
        trips, cwnds, received = (
            np.array([np.array(columns[key], dtype=np.float64)[flow == each] for each in range(count)])
            for key in ("srtt_ns", "cwnd_bytes", "received_bytes")
        )
        handshake_s = float(np.nanmin(trips, initial=np.inf)) / 1e9
        begun_s = clock * handshake_s
        begun_s = begun_s if np.isfinite(begun_s) and begun_s < times[-1] / 2 else 0.0
        at = np.clip(np.searchsorted(times, ends + begun_s - 1e-9), 0, len(times) - 1)
        trips[trips <= 0] = np.nan
        srtt_s: Floats = _mean(trips)[at] / 1e9
        # What is received counts in order: behind a hole it jumps. The best of the last samples has none.
        late = times >= LATE * times[-1]
        rates = 8 * received.sum(axis=0)[late] / np.maximum(times[late] - handshake_s, 1e-9)
        events = record.event_series()
        resent = np.array([kind in RESENT for kind in events["kind"]], dtype=np.bool_)
        when = np.array(events["time_ns"], dtype=np.float64)[resent] / 1e9 - begun_s
        edges = np.concatenate(([ends[0] - self.course.interval_s[0]], ends))
        counts, _ = np.histogram(when, edges, weights=np.array(events["count"], dtype=np.float64)[resent])
        arrived = np.diff(received.sum(axis=0)[at], prepend=0.0) / self.course.interval_s[: self.intervals]
        return Seen(float(rates.max()), srtt_s, _mean(cwnds)[at], counts, arrived, True)


def _mean(of_each: Floats) -> Floats:
    known = np.isfinite(of_each)
    sums, counts = np.where(known, of_each, 0.0).sum(axis=0), known.sum(axis=0)
    found: Floats = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return found


def repeated(transfer: Transfer, most_packets: int = MOST_PACKETS) -> Repeated | None:
    """Returns None if the file does not say when what happened, or how much arrived."""
    course, arrived = transfer.course, transfer.arrived
    if course is None or arrived is None or not _is_sane(transfer, course, arrived):
        return None
    name = transfer.congestion_control
    known = {scheme["name"] for scheme in schemes()}
    packets_per_s = arrived.rate_bps / 12_000
    affordable = int(np.searchsorted(course.end_s, most_packets / packets_per_s)) + 1
    intervals = min(len(course.end_s), MOST_INTERVALS, max(LEAST_INTERVALS, affordable))
    return Repeated(
        course,
        arrived,
        transfer.payload_share,
        transfer.connections,
        name if name in known else USUAL,
        name not in known,
        intervals,
        held_back_bytes(transfer),
    )


def _is_sane(transfer: Transfer, course: Course, arrived: Arrived) -> bool:
    """Returns whether its repetition is of bounded cost, whatever a file claims."""
    if len(course.end_s) < LEAST_INTERVALS or transfer.connections > MOST_CONNECTIONS:
        return False
    lengths = course.interval_s
    return (
        bool((lengths >= SHORTEST_S).all() and (lengths <= LONGEST_S).all())
        and bool((np.diff(course.end_s) > 0).all())
        and float(course.end_s[min(len(course.end_s), MOST_INTERVALS) - 1]) <= LONGEST_S
        and arrived.ip_bytes > 0
        and LEAST_BPS <= arrived.rate_bps <= MOST_BPS
    )


def held_back_bytes(transfer: Transfer) -> float | None:
    """Returns the window of each connection if neither loss nor queue held the transfer back; else None.

    A controller that grows until something is lost has lost nothing, and its round trips have not grown.
    """
    course, arrived = transfer.course, transfer.arrived
    if course is None or arrived is None or transfer.congestion_control not in (None, *GROWING):
        return None
    trips = course.srtt_s[np.isfinite(course.srtt_s)]
    if len(trips) < LEAST_INTERVALS or not np.isfinite(course.resent).any() or np.nansum(course.resent) > 0:
        return None
    low, high = np.quantile(trips, [0.1, 0.9])
    if high > FLAT * low + FLAT_S:
        return None
    payload_bps = arrived.rate_bps * transfer.payload_share
    return max(LEAST_WINDOW_BYTES, float(payload_bps / 8 * np.median(trips) / transfer.connections))
