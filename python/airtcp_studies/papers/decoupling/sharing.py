"""Two TCPs or circuits share a link: §4.8.2 of paper 000."""

from __future__ import annotations

from statistics import fmean

from airtcp_studies.frame import Case, Context, Result, Row, Runs, Table, absolute, experiment, info, ratio
from airtcp_studies.papers.decoupling.paths import (
    BUFFERS,
    DECOUPLED,
    RENO,
    STACK,
    TUNNEL_QUEUE,
    VARYING_ACKS,
    flow,
    link,
)

FIFO = "{ packets = 50 }"
RED = '{ discipline = "red", packets = 50 }'
CIRCUIT = f"{RENO}+{DECOUPLED}"
EAGER = f"{RENO}:ack_every=1+{DECOUPLED}"
PAIRS = {
    "normal TCPs": (RENO, RENO),
    "circuits": (CIRCUIT, CIRCUIT),
    "2 control TCPs and 1": (f"{CIRCUIT}:controls=2", CIRCUIT),
    "VMSS 3000 and 1500": (f"{CIRCUIT}:vmss=3000B", CIRCUIT),
    "VMSS 3000 and 1500, every header packet acknowledged": (f"{EAGER}:vmss=3000B", EAGER),
}
QUOTED = {
    "normal TCPs": (645, 582),
    "circuits": (621, 567),
    "2 control TCPs and 1": (773, 399),
    "VMSS 3000 and 1500": (750, 454),
}
ANY = ("reno",)
"""Every flow has a scheme of its own, so none uses this one."""

BURSTS = (
    "bursts: with delayed ACKs two VMSS leave at once, and for VMSS 3000 both header packets find the queue "
    "full together, which costs Reno a timeout; where every header packet is acknowledged it is as in the "
    "paper (row below). The hosts' own interfaces, which would space the bursts, are not modelled."
)


@experiment(
    "D1",
    where="§4.8.2",
    title="Two circuits share a link",
    parameters=(STACK, BUFFERS, TUNNEL_QUEUE, VARYING_ACKS),
    seeds=5,
)
def d1(ctx: Context) -> Result:
    """Two flows on a 10 Mbit/s link for 5 minutes, FIFO with 50 packets (and RED), RTT 0.6 ms and ACKs that
    take up to 0.4 ms longer: normal TCPs; circuits; circuits with 2 and 1 control TCPs; circuits of VMSS
    3000 and 1500."""
    cases = {
        (queue, name): Case(
            link("10Mbit/s", 0.6, queue=room, acks_vary_by="0.4ms") + flow("tcp1", one) + flow("tcp2", two),
            ANY,
            {"duration": ctx.pick("300s", quick="30s")},
        )
        for queue, room in (("FIFO", FIFO), ("RED", RED))
        for name, (one, two) in PAIRS.items()
    }
    found = ctx.sweep(cases)
    rows: list[Row] = []
    for name, quoted in QUOTED.items():
        rows += _pair(name, quoted, found["FIFO", name])
    eager = found["FIFO", "VMSS 3000 and 1500, every header packet acknowledged"]
    rows.append(info("… every header packet acknowledged: ratio", _shares(eager), "", paper=1.65))
    table = Table(
        "Goodput in KB/s",
        ("", "queue", "TCP 1", "TCP 2"),
        [[name, queue, *(_mean(runs, f"tcp{n}") for n in (1, 2))] for (queue, name), runs in found.items()],
    )
    return Result(
        rows=rows,
        tables=(table,),
        notes=("The paper's results with RED are “similar” and not shown; the table has ours.",),
    )


def _pair(name: str, quoted: tuple[int, int], runs: Runs) -> list[Row]:
    one, two = quoted
    together = runs.goodput("reno", "KB/s")
    moved_by = BURSTS if name.startswith("VMSS") else ""
    if name in ("normal TCPs", "circuits"):
        share = ratio(f"{name}: the larger over the smaller", round(one / two, 2), _larger_over_smaller(runs))
    else:
        share = ratio(f"{name}: TCP 1 over TCP 2", round(one / two, 2), _shares(runs), moved_by=moved_by)
    return [absolute(f"{name}: together", one + two, together, "KB/s"), share]


def _shares(runs: Runs) -> list[float]:
    return [
        one / two
        for one, two in zip(runs.goodput("reno", flow="tcp1"), runs.goodput("reno", flow="tcp2"), strict=True)
    ]


def _larger_over_smaller(runs: Runs) -> list[float]:
    return [max(share, 1 / share) for share in _shares(runs)]


def _mean(runs: Runs, name: str) -> float:
    return fmean(runs.goodput("reno", "KB/s", name))
