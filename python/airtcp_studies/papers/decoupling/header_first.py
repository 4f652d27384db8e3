"""Queues that drop header packets first (§4.7)."""

from __future__ import annotations

from statistics import fmean

from airtcp.facts.stats import Estimate
from airtcp_studies.frame import (
    Case,
    Context,
    OpenParameter,
    Result,
    Runs,
    SweepPlot,
    claim,
    experiment,
    info,
    ratio,
    ratio_of,
)
from airtcp_studies.papers.decoupling.circuits import CIRCUIT, data_lost, throughput
from airtcp_studies.papers.decoupling.paths import BUFFERS, STACK

SERVICE_MS = 1.2
"""Transmission time of 1500 bytes at 10 Mbit/s."""
VARIATION = OpenParameter(
    "variation of the RTT",
    f"ACKs take up to {SERVICE_MS} ms longer, in order: a packet's time on the link",
    "not stated; Floyd and Jacobson (1992) recommend so much against phase effects: where every RTT is the "
    "same to the nanosecond, a header packet finds the place in the queue that its predecessor has left",
)


def figure_7(vmss: int, discipline: str, variation_ms: float) -> str:
    """Two circuits through one queue, the second with `vmss`."""
    varying = f'jitter = {{ distribution = "uniform", high = "{variation_ms}ms", overtaking = false }}'
    acks = varying if variation_ms else "loss = {}"
    return f"""
duration = "300s"
warmup = "20s"
[[link]]
name = "shared"
rate = "10Mbit/s"
delay = "10ms"
queue = {discipline}
reverse = {{ queue = {{ discipline = "droptail", packets = 400 }}, {acks} }}
[[flow]]
name = "one"
[[flow]]
name = "other"
scheme = "{CIRCUIT}:vmss={vmss}B"
"""


HEADER_FIRST = '{ discipline = "header-first", max_headers = 40, packets = 400 }'


@experiment(
    "D5",
    where="§4.7, §4.8.1, Figs 6, 7",
    title="Header packets dropped first",
    parameters=(
        STACK,
        BUFFERS,
        VARIATION,
        OpenParameter("path", "10 Mbit/s, RTT 20 ms", "not stated"),
        OpenParameter(
            "queue",
            "400 packets, at most 40 of them header packets",
            "not stated; 40 header packets stand for 40 VMSS of data, the room is for several times as much",
        ),
    ),
)
def d5(ctx: Context) -> Result:
    """Two circuits with one control TCP each share a FIFO whose header packets are capped by their number."""
    sets = {"duration": ctx.pick("300s", quick="40s")}
    variations = ctx.pick((0, SERVICE_MS, 2.5, 5, 10, 20), quick=(0, SERVICE_MS))
    points = [(3000, ms) for ms in variations] + [(4500, SERVICE_MS)]
    found = ctx.sweep(
        {(vmss, ms): Case(figure_7(vmss, HEADER_FIRST, ms), [CIRCUIT], sets) for vmss, ms in points}
    )
    fifo = ctx.run(figure_7(3000, "{ packets = 50 }", SERVICE_MS), [CIRCUIT], sets, label="FIFO")
    shares = {point: bandwidths(runs) for point, runs in found.items()}
    by_variation = {ms: shares[3000, ms] for ms in variations}
    lost = sum(map(data_lost, found.values()))
    dropped = fmean(found[3000, SERVICE_MS].link(CIRCUIT, lambda link: link["drops_aqm"], "shared"))
    phases = (
        f"how much RTTs vary: the ratio is {shares[3000, 0].mean:.1f} where nothing does and "
        f"{shares[3000, variations[-1]].mean:.1f} at {variations[-1]} ms (figure). Control TCPs of different "
        "VMSS do not find the queue full equally often, as “the same bandwidth for their header packets” "
        "would need."
    )
    return Result(
        rows=(
            claim(
                "no data packet is lost",
                lost == 0,
                evidence=f"{lost} data packets, {dropped:.0f} header packets a run",
            ),
            ratio("bandwidth at VMSS 3000:1500", 2, shares[3000, SERVICE_MS], moved_by=phases),
            ratio("bandwidth at VMSS 4500:1500", 3, shares[4500, SERVICE_MS], moved_by=phases),
            info("VMSS 3000:1500, FIFO of 50 packets", bandwidths(fifo)),
            info("data packets lost in that FIFO, in all runs", data_lost(fifo)),
        ),
        figures={
            "variation": SweepPlot(
                "variation of the RTT [ms]",
                "bandwidth ratio",
                {"VMSS 3000:1500": by_variation, "VMSS₂/VMSS₁": dict.fromkeys(variations, 2.0)},
                caption="What VMSS is worth, by how much the RTT varies",
            )
        },
    )


def bandwidths(runs: Runs) -> Estimate:
    """Returns the second circuit's bandwidth over the first's."""
    return ratio_of(throughput(runs, "other"), throughput(runs, "one"))
