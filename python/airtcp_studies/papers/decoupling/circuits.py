"""A circuit on a link of its own, and helpers of the experiments with circuits."""

from __future__ import annotations

from airtcp.facts.records import Run
from airtcp_studies.frame import Context, Result, Runs, absolute, experiment
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
    """One circuit on a link of 10 Mbit/s, VMSS 1500 B, header packets of 52 B."""
    runs = ctx.run(SHARED, [CIRCUIT], {"duration": ctx.pick("120s", quick="15s")})

    def overhead(run: Run) -> tuple[float, float]:
        (circuit,) = run["circuits"]
        back = circuit["control_ack_bytes_sent"]
        return (
            100 * circuit["header_bytes_sent"] / circuit["forwarded_bytes"],
            100 * back / circuit["forwarded_bytes"],
        )

    return Result(
        rows=(
            absolute("forward", 3.4, runs.values(CIRCUIT, lambda run: overhead(run)[0]), "%"),
            absolute("reverse", 1.7, runs.values(CIRCUIT, lambda run: overhead(run)[1]), "%"),
            absolute("together", 5.1, runs.values(CIRCUIT, lambda run: sum(overhead(run))), "%"),
        )
    )


def throughput(runs: Runs, flow: str) -> list[float]:
    """Returns bit/s of all data packets that arrived, one value per seed."""
    (scheme,) = runs.schemes
    return runs.total(scheme, lambda found: found["throughput_bps"], flow)


def data_lost(runs: Runs) -> int:
    """Returns the data packets that the queue dropped, over all runs."""
    (scheme,) = runs.schemes
    return sum(flow["losses_congestion"] for run in runs.of(scheme) for flow in run["flows"])
