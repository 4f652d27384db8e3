"""The example of paper 000's §3 and §7 in the simulator: bit errors alone limit."""

from __future__ import annotations

from airtcp_studies.frame import Case, Context, Row, Runs, Tried, claim, info
from airtcp_studies.papers.decoupling.paths import BSD, DECOUPLED, HEADER_BYTES, WINDOW

PACKET_BYTES = 576
PATH = """
duration = "1000s"
warmup = "20s"
[[link]]
name = "lossy"
rate = "10Mbit/s"
delay = "270ms"
queue = { packets = 50 }
loss = { ber = 3e-5, first_order = true }
"""
PACKETS = f"packet_size={PACKET_BYTES}:{WINDOW}"
RENO = f"reno:{BSD}:{PACKETS}"
STACKS = {
    "SACK": f"sack:profile=bsd-1998:timestamps=true:{PACKETS}",
    "NewReno": f"{RENO}:recovery=newreno",
    "no delayed ACKs": f"{RENO}:ack_every=1",
    "hosts of today (profile linux)": f"sack:{PACKETS}",
}
RATES = ("10Mbit/s", "1Gbit/s")
SAME = 0.15
"""Largest deviation of a throughput that does not depend on the link's rate."""
MOST, HARDLY_ANY = 0.5, 0.05
"""Shares of the window reductions that are timeouts."""


def circuit(stack: str) -> str:
    return f"{stack}+{DECOUPLED}:vmss={PACKET_BYTES}B"


def simulated(ctx: Context) -> list[Row]:
    """Returns the rows that need runs: BER 3e-5, packets of 576 B, RTT 540 ms."""
    stacks = ctx.pick(STACKS, quick={})
    duration = {"duration": ctx.pick("1000s", quick="60s")}
    schemes = [each for stack in (RENO, *stacks.values()) for each in (stack, circuit(stack))]
    slow, fast = ctx.sweep(
        {
            rate: Case(PATH, of, duration | {"link.lossy.rate": rate}, seeds=5)
            for rate, of in zip(RATES, (schemes, [RENO]), strict=True)
        }
    ).values()
    carried = slow.goodput(RENO, "kbit/s")
    faster = sum(fast.goodput(RENO, "kbit/s")) / sum(carried)
    holds, evidence = timers(slow, RENO)
    return [
        info("plain TCP there, in the simulator", carried, "kbit/s", paper=26),
        claim(
            "at W 4 the timer repairs most losses, at W 14 hardly any (§7)",
            holds,
            evidence=evidence,
            tried=[Tried(name, None, *timers(slow, stack)) for name, stack in stacks.items()],
        ),
        claim(
            "the throughput does not depend on the link's rate (§3)",
            abs(faster - 1) < SAME,
            evidence=f"{100 * (faster - 1):+.0f} % where the link is {RATES[1]} instead of {RATES[0]}",
        ),
    ]


def timers(runs: Runs, stack: str) -> tuple[bool, str]:
    """Returns whether timeouts are common without a circuit only, and the figures."""
    coupled, decoupled = timeouts_of_tcp(runs, stack), timeouts_of_circuit(runs, stack)
    return coupled > MOST and decoupled < HARDLY_ANY, (
        f"timeouts are {100 * coupled:.0f} % of the reductions of plain TCP, and {100 * decoupled:.0f} % of "
        f"those by header packets of {HEADER_BYTES} B"
    )


def timeouts_of_tcp(runs: Runs, stack: str) -> float:
    timeouts, reductions = (
        sum(runs.total(stack, of)) for of in (lambda f: f["timeouts"], lambda f: f["cwnd_reductions"])
    )
    return timeouts / max(1.0, reductions)


def timeouts_of_circuit(runs: Runs, stack: str) -> float:
    circuits = [found for run in runs.of(circuit(stack)) for found in run["circuits"]]
    return sum(c["timeouts"] for c in circuits) / max(1, sum(c["cwnd_reductions"] for c in circuits))
