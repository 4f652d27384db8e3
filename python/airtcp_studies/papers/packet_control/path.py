"""Paper 001's path and schemes, and the values read from every run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from airtcp.facts.series import Series
from airtcp.facts.stats import Estimate, estimate
from airtcp_studies.frame import OpenParameter, Runs, TimePlot

THRESHOLDS = (3, 6, 9, 12)
LOSS_WINDOW = "loss_window=2"
NONE, EIFEL = f"reno:{LOSS_WINDOW}", f"eifel:{LOSS_WINDOW}"
SEGMENT_BYTES = 1000

PATH = """
profile = "ns2-2.26"
duration = "20s"

[[link]]
name = "wired"
rate = "1Mbit/s"
delay = "5ms"
queue = {packets = 50}
"""

STEADY = f"""{PATH}
[[link]]
name = "wireless"
rate = "250kbit/s"
delay = "170ms"
queue = {{packets = 50}}
"""

TABLE_1 = ((0.80, 0, 42), (0.10, 42, 72), (0.08, 72, 144), (0.02, 144, 468))
"""Table I's shares of packets, and the ends of their delays less the 153 ms that every packet has [ms]."""


def jitter(times: int = 1) -> str:
    """Returns the variation of Table I, from 0.5 s on, so many times as large."""
    ranges = ", ".join(
        f'{{probability = {share:g}, low = "{times * low}ms", high = "{times * high}ms"}}'
        for share, low, high in TABLE_1
    )
    return f'{{distribution = "table", start = "500ms", ranges = [{ranges}]}}'


VARYING = f"""{PATH}
[[link]]
name = "wireless"
rate = "250kbit/s"
delay = "153ms"
queue = {{packets = 50}}
jitter = {jitter()}
"""

NO_JITTER = '{distribution = "constant", mean = "17ms"}'
DOUBLE_JITTER = jitter(2)
LOSS = {"link.wireless.loss.packet": 0.01}


def filtered(threshold: int, keys: str = "") -> str:
    return f"{NONE}+packet-control:threshold={threshold}{keys}"


def ack_filter(threshold: int) -> str:
    return filtered(threshold, ":data_filter=false")


FILTERED = {f"threshold {threshold}": filtered(threshold) for threshold in THRESHOLDS}
COMPARED = {"no packet control": NONE, **FILTERED}

STACK = OpenParameter(
    "Reno",
    "ns-2.26's defaults: window 20, RTO floor 1 s, tick 10 ms, initial window 2, limited transmit",
    "the simulator that §VI names; the paper changes the packet size only, to its default",
)
TIMEOUT = OpenParameter(
    "cwnd after a timeout",
    "2 segments, the initial window",
    "§II.B and §IV say so, and Fig 3 shows two segments resent; ns-2.26 has one by default",
)
PARAMETERS = (
    STACK,
    TIMEOUT,
    OpenParameter("queues", "DropTail, 50 packets", "ns-2's default; a window of 20 never fills it"),
    OpenParameter(
        "delay of a packet",
        "drawn anew for each packet, in both directions; packets overtake each other",
        "Table I halves the wireless round trip; Fig 2 is about reordering",
    ),
    OpenParameter("before 0.5 s", "153 ms, the least of Table I", "the paper does not say; two round trips"),
    OpenParameter(
        "seeds",
        "60",
        "the paper shows single runs; a run of 20 s has a handful of window reductions",
    ),
)

BESIDE = {
    "Eifel": EIFEL,
    "Snoop": f"{NONE}+snoop",
    "a sender that waits for 12 duplicate ACKs": f"{NONE}:dupack_threshold=12",
}


def goodput(runs: Runs, scheme: str) -> list[float]:
    return runs.goodput(scheme, "kbit/s")


def per_run(runs: Runs, scheme: str, key: str) -> Estimate:
    """Returns a counter of the flow per run."""
    return estimate([float(run["flows"][0][key]) for run in runs.of(scheme)])  # type: ignore[literal-required]


Line = tuple[list[float], list[float]]


def line(times: Iterable[float], values: Iterable[float]) -> Line:
    return list(times), list(values)


def goodput_over_time(runs: Runs, names: Mapping[str, str], caption: str) -> TimePlot:
    def curve(series: Series) -> Line:
        # Arrivals are recorded when the sender acts; in between, the value holds.
        times = pl.DataFrame({"time_s": [step / 10 for step in range(10, 201)]})
        flows = times.join_asof(series.flows.select("time_s", "received_bytes"), on="time_s").fill_null(0)
        return line(flows["time_s"], flows["received_bytes"] * 8e-3 / flows["time_s"])

    panel = {name: curve(runs.series(scheme)) for name, scheme in names.items()}
    return TimePlot("goodput since 0 s [kbit/s]", {"first seed": panel}, caption)
