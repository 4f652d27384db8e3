"""What a loop around `ss -ti` would have written of a simulated transfer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl

from airtcp._engine import Scenario
from airtcp.asking.run import run

Row = dict[str, Any]

SAMPLE_S = 0.2
MSS_BYTES = 1448
_FROM_S = 1_767_225_600
"""When the transfer begins: 2026-01-01."""
_HEADING = "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process"
_SOCKET = "ESTAB 0      0      192.0.2.1:40000    192.0.2.2:5201"
_RESENT = ("retransmit", "fast-retransmit")


def ss_log(path: Scenario, scheme: str = "cubic", seed: int = 1, *, duration_s: float = 20.0) -> str:
    """Returns the samples of one transfer over the forward way of `path`, whose own flows are replaced.

    The same arguments give the same text. How many retransmissions the receiver has reported as unnecessary
    is known at the end only, and stands in the last sample.
    """
    flow = [{"name": "test", "start": "0s"}]
    test = path.vary(duration=f"{duration_s:g}s", warmup="0s", flow=flow)
    found = run(test, scheme, seed, interval_s=SAMPLE_S)
    rows = list(found.series.iter_rows(named=True))
    events = found.events.filter(pl.col("kind").is_in(_RESENT))
    resent = np.histogram(
        events["time_s"].to_numpy(),
        [0.0, *(row["time_s"] for row in rows)],
        weights=events["count"].to_numpy(),
    )[0].cumsum()
    trips = np.array([_known(row["rtt_min_s"]) for row in rows])
    least_s = np.minimum.accumulate(trips)
    spurious = found.flows["retransmissions_spurious"].to_list()[0]
    lines = []
    for row, count, least in zip(rows, resent.tolist(), least_s.tolist(), strict=True):
        # Before the SYN's answer there is no connection that is established.
        if row["srtt_s"] and math.isfinite(least):
            unneeded = spurious if row is rows[-1] else 0
            lines += [f"{_FROM_S + row['time_s']:.9f}", _HEADING, _SOCKET]
            lines.append(_info(row, scheme.partition(":")[0], int(count), least, unneeded))
    return "\n".join(lines) + "\n"


def _known(value: float | None) -> float:
    return math.inf if value is None or not value > 0 else value


def _info(row: Row, control: str, resent: int, least_s: float, spurious: int) -> str:
    """Returns the line on a connection's state; zeros are left out, as ss does."""
    sent = int(row["nxt_bytes"]) + resent * MSS_BYTES
    counts = {
        "cwnd": max(1, round(row["cwnd_bytes"] / MSS_BYTES)),
        "bytes_sent": sent,
        "bytes_retrans": resent * MSS_BYTES,
        "bytes_acked": int(row["una_bytes"]) + 1,
        "data_segs_out": math.ceil(sent / MSS_BYTES),
    }
    rtt_ms, more = 1e3 * row["srtt_s"], {"dsack_dups": spurious}
    unacked = math.ceil(row["in_flight_bytes"] / MSS_BYTES)
    parts = [
        f"ts sack {control} wscale:7,7 rto:{1e3 * row['rto_s']:.0f} rtt:{rtt_ms:.3f}/{rtt_ms / 20:.3f}",
        f"mss:{MSS_BYTES} pmtu:1500 rcvmss:536 advmss:{MSS_BYTES}",
        *_counted(counts),
        f"busy:{1e3 * row['time_s']:.0f}ms",
        *_counted({"unacked": unacked}),
        *([f"retrans:0/{resent}"] if resent else []),
        *_counted(more),
        f"minrtt:{1e3 * least_s:.3f}",
    ]
    return "\t " + " ".join(parts)


def _counted(counts: dict[str, int]) -> list[str]:
    return [f"{name}:{count}" for name, count in counts.items() if count]
