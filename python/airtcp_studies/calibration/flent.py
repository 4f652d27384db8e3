"""What Flent's `tcp_upload` would have written of a simulated path: a ping, and a transfer beside it."""

from __future__ import annotations

import json

import numpy as np
import polars as pl

from airtcp._engine import Scenario
from airtcp.asking.run import run
from airtcp.running.scratch import scratch_folder
from airtcp_studies.calibration.probes import ICMP_BYTES, Probing

STEP_S = 0.2
IDLE_S = 5.0
"""Before the transfer, and after it."""
PING, UPLOAD = "Ping (ms) ICMP", "TCP upload"


def flent_json(path: Scenario, scheme: str = "cubic", seed: int = 1, *, transfer_s: float = 20.0) -> str:
    """Returns the data file. The flows of `path` are replaced; the same arguments give the same text."""
    count = round((transfer_s + 2 * IDLE_S) / STEP_S)
    load = {"start": f"{IDLE_S:g}s", "stop": f"{IDLE_S + transfer_s:g}s"}
    with scratch_folder() as folder:
        probing = Probing(path, folder, count=count, interval_s=STEP_S, packet_bytes=ICMP_BYTES, load=load)
        probes = probing.run(seed, scheme)
        series = run(probing.test, scheme, seed, interval_s=STEP_S).series.filter(pl.col("flow") == "load")
    steps = STEP_S * np.arange(count)
    at = np.searchsorted(series["time_s"].to_numpy(), steps + STEP_S + 1e-9, side="right") - 1
    arrived = series["received_bytes"].to_numpy().astype(np.float64)[np.maximum(at, 0)]
    mbps = np.diff(np.where(at < 0, 0.0, arrived), prepend=0.0) * 8e-6 / STEP_S
    is_on = (steps >= IDLE_S) & (steps < IDLE_S + transfer_s)
    answered = [
        (float(sent_s), 1e3 * float(rtt_s))
        for sent_s, rtt_s in zip(probes.sent_s, probes.rtt_s, strict=True)
        if np.isfinite(rtt_s)
    ]
    return json.dumps(
        {
            "version": 4,
            "x_values": steps.round(6).tolist(),
            "results": {
                PING: [None if np.isnan(each) else 1e3 * each for each in probes.rtt_s.tolist()],
                UPLOAD: [each if on else None for each, on in zip(mbps.tolist(), is_on, strict=True)],
            },
            "raw_values": {PING: [{"t": at_s, "val": rtt_ms} for at_s, rtt_ms in answered]},
            "metadata": {"NAME": "tcp_upload", "STEP_SIZE": STEP_S, "HOSTS": ["192.0.2.2"]},
        }
    )
