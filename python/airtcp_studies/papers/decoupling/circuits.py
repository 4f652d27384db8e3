"""A circuit on a link of its own, and helpers of the experiments with circuits."""

from __future__ import annotations

from statistics import fmean

from airtcp.facts.records import Run
from airtcp_studies.frame import Context, Result, Runs, absolute, claim, experiment
from airtcp_studies.papers.decoupling.paths import BUFFERS, DECOUPLED, RENO, STACK

CIRCUIT = f"{RENO}+{DECOUPLED}"

SHARED = """
duration = "120s"
warmup = "10s"
[[link]]
name = "shared"
rate = "10Mbit/s"
delay = "0.5ms"
queue = { packets = 50 }
"""


@experiment(
    "D2", where="§4.8.3", title="What header packets and their ACKs cost", parameters=(STACK, BUFFERS)
)
def d2(ctx: Context) -> Result:
    """One circuit on a link of 10 Mbit/s, VMSS 1500 B (and beside it 3000 B), header packets of 52 B."""
    larger = f"{CIRCUIT}:vmss=3000B"
    runs = ctx.run(SHARED, [CIRCUIT, larger], {"duration": ctx.pick("120s", quick="15s")})
    by_vmss = [fmean(runs.values(scheme, lambda run: sum(overhead(run)))) for scheme in runs.schemes]
    return Result(
        rows=(
            absolute("forward", 3.4, runs.values(CIRCUIT, lambda run: overhead(run)[0]), "%"),
            absolute("reverse", 1.7, runs.values(CIRCUIT, lambda run: overhead(run)[1]), "%"),
            absolute("together", 5.1, runs.values(CIRCUIT, lambda run: sum(overhead(run))), "%"),
            claim(
                "a larger VMSS lowers it",
                by_vmss[1] < by_vmss[0],
                evidence=f"{by_vmss[0]:.1f} % with VMSS 1500, {by_vmss[1]:.1f} % with 3000",
            ),
        )
    )


def overhead(run: Run) -> tuple[float, float]:
    """Returns the bytes of header packets and of their ACKs, in percent of the data forwarded."""
    (circuit,) = run["circuits"]
    return (
        100 * circuit["header_bytes_sent"] / circuit["forwarded_bytes"],
        100 * circuit["control_ack_bytes_sent"] / circuit["forwarded_bytes"],
    )


def throughput(runs: Runs, flow: str) -> list[float]:
    """Returns bit/s of all data packets that arrived, one value per seed."""
    (scheme,) = runs.schemes
    return runs.total(scheme, lambda found: found["throughput_bps"], flow)


def data_lost(runs: Runs) -> int:
    """Returns the data packets that the queue dropped, over all runs."""
    (scheme,) = runs.schemes
    return sum(flow["losses_congestion"] for run in runs.of(scheme) for flow in run["flows"])
