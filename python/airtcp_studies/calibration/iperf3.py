"""What `iperf3 --json` would have written of a simulated transfer.

iperf3 sees a transfer from above: it counts what its writes hand to the socket, which runs ahead of what the
path carries by the send buffer, and asks the kernel once an interval for cwnd and the smoothed RTT.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from airtcp._engine import Scenario
from airtcp.asking.run import run

Json = dict[str, Any]
Floats = npt.NDArray[np.float64]

VERSION = "iperf 3.12"
SAMPLE_S = 0.02
MOST_AFTER_S = 5.0
"""The message that ends the test waits in the same queue as the data; it has arrived by then."""
BUFFERED_WINDOWS = 3.2
"""Linux grows a send buffer to two windows of socket memory; a packet of 1448 bytes takes 2304 of that."""
MOST_BUFFERED_BYTES = 3 << 20
"""As data, the 4 MiB that Linux lets a send buffer grow to."""
FIRST_BUFFERED_BYTES = 87_040
"""What fits into a new socket."""
WAKES_AT = 2 / 3
"""A blocked write goes on when the buffer's contents have fallen to this share."""


def iperf3_tcp(
    path: Scenario,
    scheme: str = "cubic",
    seed: int = 1,
    *,
    duration_s: float = 10.0,
    streams: int = 1,
    interval_s: float = 1.0,
) -> str:
    """Returns the result of `iperf3 --json -c HOST -t duration -P streams` over the forward way of `path`.

    The flows of `path` are replaced by the test's. The same arguments give the same text.
    """
    test = path.vary(
        duration=f"{duration_s + MOST_AFTER_S:g}s",
        warmup="0s",
        flow=[{"name": "test", "count": streams, "start": "0s"}],
    )
    found = run(test, scheme, seed, interval_s=SAMPLE_S)
    retransmitted = found.events.filter(pl.col("kind").is_in(["retransmit", "fast-retransmit"]))
    flows = [
        _Stream(
            5 + 2 * index,
            flow,
            retransmitted.filter(pl.col("flow") == name),
        )
        for index, ((name,), flow) in enumerate(found.series.group_by("flow", maintain_order=True))
    ]
    edges = np.append(np.arange(0.0, duration_s - 1e-9, interval_s), duration_s)
    intervals = [_interval([stream.between(*pair) for stream in flows]) for pair in pairwise(edges)]
    ends = [stream.end(duration_s, edges) for stream in flows]
    control = scheme.partition("+")[0].partition(":")[0]
    return document(
        start("TCP", streams, duration_s, blksize=131072),
        intervals,
        {
            "streams": ends,
            "sum_sent": _total([each["sender"] for each in ends]),
            "sum_received": _total([each["receiver"] for each in ends]),
            "sender_tcp_congestion": control,
            "receiver_tcp_congestion": control,
        },
    )


@dataclass
class _Stream:
    """One connection."""

    socket: int
    series: pl.DataFrame
    retransmitted: pl.DataFrame

    def __post_init__(self) -> None:
        self._time_s = self.series["time_s"].to_numpy()
        self._written = _written(self.series)

    def between(self, start_s: float, end_s: float) -> Json:
        """Returns the connection's part of an interval."""
        last = self._place(end_s)
        written = self._written_by(end_s) - self._written_by(start_s)
        row = self.series.row(last, named=True)
        rtt_us = round((row["srtt_s"] or 0.0) * 1e6)
        return {
            "socket": self.socket,
            **span(start_s, end_s, written),
            "retransmits": self._retransmits(start_s, end_s),
            "snd_cwnd": int(row["cwnd_bytes"]),
            "rtt": rtt_us,
            "rttvar": rtt_us // 20,
            "pmtu": 1500,
            "omitted": False,
            "sender": True,
        }

    def end(self, duration_s: float, edges: Floats) -> Json:
        """Returns the connection's totals."""
        asked = [self.series.row(self._place(edge), named=True) for edge in edges[1:]]
        rtts = [round(row["srtt_s"] * 1e6) for row in asked if row["srtt_s"]] or [0]
        # The receiver stops counting when the sender's message has passed the same queue.
        stopped_s = min(duration_s + rtts[-1] / 1e6, float(self._time_s[-1]))
        received = int(self.series["received_bytes"][self._place(stopped_s)])
        return {
            "sender": {
                "socket": self.socket,
                **span(0.0, duration_s, self._written_by(duration_s)),
                "retransmits": self._retransmits(0.0, duration_s),
                "max_snd_cwnd": max(int(row["cwnd_bytes"]) for row in asked),
                "max_rtt": max(rtts),
                "min_rtt": min(rtts),
                "mean_rtt": sum(rtts) // len(rtts),
                "sender": True,
            },
            "receiver": {"socket": self.socket, **span(0.0, stopped_s, received), "sender": True},
        }

    def _place(self, time_s: float) -> int:
        return max(0, int(np.searchsorted(self._time_s, time_s + 1e-9, side="right")) - 1)

    def _written_by(self, time_s: float) -> int:
        return 0 if time_s <= 0 else int(self._written[self._place(time_s)])

    def _retransmits(self, start_s: float, end_s: float) -> int:
        inside = self.retransmitted.filter((pl.col("time_s") > start_s) & (pl.col("time_s") <= end_s))
        return int(inside["count"].sum())


def _written(series: pl.DataFrame) -> Floats:
    """Returns what the application has written by each sample.

    It fills the send buffer whenever that wakes it. The buffer grows with cwnd, and never shrinks.
    """
    acked = series["una_bytes"].to_numpy().astype(np.float64)
    grown = np.maximum.accumulate(series["cwnd_bytes"].to_numpy() * BUFFERED_WINDOWS)
    room = np.clip(grown, FIRST_BUFFERED_BYTES, MOST_BUFFERED_BYTES)
    written = np.empty(len(acked))
    last = 0.0
    for place, (una, fits) in enumerate(zip(acked, room, strict=True)):
        if last - una <= WAKES_AT * fits:
            last = max(last, una + fits)
        written[place] = last
    return written


def span(start_s: float, end_s: float, data: float) -> Json:
    seconds = end_s - start_s
    return {
        "start": start_s,
        "end": end_s,
        "seconds": seconds,
        "bytes": int(data),
        "bits_per_second": 8 * int(data) / seconds,
    }


def _interval(streams: list[Json]) -> Json:
    return {"streams": streams, "sum": {**_total(streams), "omitted": False}}


def _total(streams: Sequence[Json]) -> Json:
    """Returns the sum of streams with the same times."""
    first = streams[0]
    total = span(first["start"], max(each["end"] for each in streams), sum(s["bytes"] for s in streams))
    if "retransmits" in first:
        total["retransmits"] = sum(each["retransmits"] for each in streams)
    return {**total, "sender": True}


def start(protocol: str, streams: int, duration_s: float, *, blksize: int, rate_bps: float = 0.0) -> Json:
    sockets = [
        {
            "socket": 5 + 2 * index,
            "local_host": "192.0.2.1",
            "local_port": 40000 + index,
            "remote_host": "192.0.2.2",
            "remote_port": 5201,
        }
        for index in range(streams)
    ]
    start: Json = {
        "connected": sockets,
        "version": VERSION,
        "system_info": "Linux",
        "timestamp": {"time": "Thu, 01 Jan 2026 00:00:00 GMT", "timesecs": 1767225600},
        "connecting_to": {"host": "192.0.2.2", "port": 5201},
        "target_bitrate": int(rate_bps),
        "test_start": {
            "protocol": protocol,
            "num_streams": streams,
            "blksize": blksize,
            "omit": 0,
            "duration": int(duration_s),
            "bytes": 0,
            "blocks": 0,
            "reverse": 0,
            "tos": 0,
            "target_bitrate": int(rate_bps),
        },
    }
    if protocol == "TCP":
        start["tcp_mss_default"] = 1448
    return start


def document(start: Json, intervals: list[Json], end: Json) -> str:
    usage = {"host_total": 1.0, "host_user": 0.5, "host_system": 0.5}
    end["cpu_utilization_percent"] = usage
    return json.dumps({"start": start, "intervals": intervals, "end": end}, indent="\t") + "\n"
