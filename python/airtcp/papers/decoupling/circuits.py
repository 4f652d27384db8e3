"""What TCP circuits do to a shared link: overhead, shares, guaranteed bandwidth (§4)."""

from __future__ import annotations

from airtcp.papers.frame import Context, OpenParameter, Result, absolute, experiment
from airtcp.records import Run

STACK = "reno:profile=bsd-1998:timestamps=true:window_scaling=true:receive_window=1MB"
"""The control TCPs' and the hosts': FreeBSD 2.2's, with RFC 1323 on, as header packets have timestamps."""
CIRCUIT = f"{STACK}+decoupling"

SHARED = """
profile = "bsd-1998"
duration = "120s"
warmup = "10s"
[[link]]
name = "shared"
rate = "10Mbit/s"
delay = "0.5ms"
queue = { packets = 50 }
"""

WINDOW = OpenParameter("socket buffers", "1 MB", "not stated; so large that the receive window never limits")


@experiment("D2", where="§4.8.3", title="What header packets and their ACKs cost", parameters=(WINDOW,))
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
