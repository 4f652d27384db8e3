"""Queues that drop header packets first (§4.7)."""

from __future__ import annotations

from statistics import fmean

from airtcp.facts.records import Run
from airtcp_studies.frame import (
    Case,
    Context,
    OpenParameter,
    Result,
    Runs,
    SweepPlot,
    Table,
    Tried,
    claim,
    experiment,
    info,
    ratio,
    ratio_of,
)
from airtcp_studies.papers.decoupling.circuits import CIRCUIT, data_lost, throughput
from airtcp_studies.papers.decoupling.paths import ACKS_VARY_BY_MS, BUFFERS, INTERFACES, STACK, flow, shared

HEADERS = 40
HEADER_FIRST = f'{{ discipline = "header-first", max_headers = {HEADERS}, packets = {10 * HEADERS} }}'
FIFO = "{ packets = 50 }"
RTT_MS = 1.0
FAR_MS = 20.0


def figure_7(
    vmss: int,
    rtt_ms: float = RTT_MS,
    *,
    vary_ms: float = ACKS_VARY_BY_MS,
    queue: str = HEADER_FIRST,
    each: int = 1,
) -> str:
    """`each` circuits of VMSS 1500 and as many of `vmss` through one queue."""
    first, other = flow("one", CIRCUIT, each), flow("other", f"{CIRCUIT}:vmss={vmss}B", each)
    return f'warmup = "20s"\n{shared(rtt_ms, queue=queue, vary_ms=vary_ms)}{first}{other}'


@experiment(
    "D5",
    where="§4.7, §4.8.1, Figs 6, 7",
    title="Header packets dropped first",
    parameters=(
        STACK,
        BUFFERS,
        INTERFACES,
        OpenParameter(
            "path",
            f"10 Mbit/s, RTT {RTT_MS:g} ms, of which ACKs vary by {ACKS_VARY_BY_MS:g} ms",
            "not stated; §4.8.2's testbed, as in D1",
        ),
        OpenParameter(
            "queue",
            f"{10 * HEADERS} packets, at most {HEADERS} of them header packets",
            f"not stated; {HEADERS} header packets stand for {HEADERS} VMSS of data, the room is for several "
            "times as much",
        ),
    ),
)
def d5(ctx: Context) -> Result:
    """Circuits with one control TCP each share a FIFO whose header packets are capped by their number: one of
    VMSS 1500 and one of 3000 or 4500. Beside it: the same at longer RTTs (5 seeds), with ACKs that vary more,
    and with four circuits of each kind."""
    sets = {"duration": ctx.pick("300s", quick="25s")}
    rtts = ctx.pick((RTT_MS, 5.0, FAR_MS, 50.0), quick=(RTT_MS, FAR_MS))
    variations = ctx.pick((0.0, 1.2, 2.5, 5.0, 10.0), quick=(5.0,))
    near = {vmss: Case(figure_7(vmss), [CIRCUIT], sets) for vmss in (3000, 4500)}
    beside = {f"RTT {rtt:g} ms": figure_7(3000, rtt) for rtt in rtts[1:]} | {
        f"RTT {FAR_MS:g} ms, ACKs up to {ms:g} ms later": figure_7(3000, FAR_MS, vary_ms=ms)
        for ms in variations
    }
    far = {name: Case(text, [CIRCUIT], sets, seeds=5) for name, text in beside.items()}
    four = {"four of each": Case(figure_7(3000, each=4), [CIRCUIT], sets)}
    fifo = {"FIFO of 50 packets": Case(figure_7(3000, queue=FIFO), [CIRCUIT], sets)}
    found = ctx.sweep({**near, **far, **four, **fifo})
    shares = {
        name: ratio_of(throughput(runs, "other"), throughput(runs, "one")) for name, runs in found.items()
    }
    lost = {name: data_lost(runs) for name, runs in found.items()}
    capped = sum(lost[name] for name in found if name not in fifo)
    dropped = fmean(found[3000].link(CIRCUIT, lambda link: link["drops_aqm"], "link"))
    return Result(
        rows=(
            claim(
                "no data packet is lost",
                capped == 0,
                evidence=f"{capped} data packets, {dropped:.0f} header packets a run",
            ),
            *(ratio(f"bandwidth at VMSS {vmss}:1500", vmss / 1500, shares[vmss]) for vmss in near),
            ratio(
                "header packets in the queue, over their threshold",
                1,
                waiting_headers(found[3000]),
                note="Counted as the share of packets sent that are header packets.",
                tried=[Tried(name, waiting_headers(found[name])) for name in (*four, *far)],
            ),
            *(info(f"VMSS 3000:1500, {name}", shares[name]) for name in (*four, *far, *fifo)),
            *(info(f"data packets lost in that {name}, in all runs", lost[name]) for name in fifo),
        ),
        tables=(
            Table(
                "Header packets dropped of 1000 sent",
                ("", "VMSS 1500", "VMSS 3000"),
                [_drops(f"RTT {RTT_MS:g} ms", found[3000]), *(_drops(name, found[name]) for name in far)],
            ),
        ),
        figures={
            "rtt": SweepPlot(
                "RTT [ms]",
                "bandwidth ratio",
                {
                    "VMSS 3000:1500": {RTT_MS: shares[3000]}
                    | {rtt: shares[f"RTT {rtt:g} ms"] for rtt in rtts[1:]},
                    "VMSS₂/VMSS₁": dict.fromkeys(rtts, 2.0),
                },
                caption="What VMSS is worth, by the round trip without a queue",
            )
        },
        notes=(TRAINS,),
    )


TRAINS = (
    "Why the ratio grows with the round trip: header packets come in trains, one behind each VMSS, and ACKs "
    "bring them back a round trip later with the spacing they had. While the queue sends the larger VMSS, it "
    "frees places slowly; the other circuit's header packets then arrive faster than that, find all places "
    "taken and are dropped more often (table). The shorter the round trip beside the queue, the more often a "
    "train arrives while its own circuit is sent; and ACKs that vary take its spacing away."
)


def waiting_headers(runs: Runs) -> list[float]:
    """Returns the header packets that wait on average over those that may, by seed."""
    waiting = runs.link(CIRCUIT, lambda link: link["queue_mean_packets"], "link")
    return [
        packets * share_of_headers(run) / HEADERS
        for packets, run in zip(waiting, runs.of(CIRCUIT), strict=True)
    ]


def share_of_headers(run: Run) -> float:
    headers = sum(circuit["header_packets_sent"] for circuit in run["circuits"])
    return headers / (headers + sum(circuit["forwarded_packets"] for circuit in run["circuits"]))


def _drops(name: str, runs: Runs) -> list[str | float]:
    """Returns a row: of 1000 header packets, how many are dropped of VMSS 1500, and of the other."""
    circuits = [circuit for run in runs.of(CIRCUIT) for circuit in run["circuits"]]

    def of(flow: str) -> float:
        own = [circuit for circuit in circuits if circuit["name"] == flow]
        return 1000 * sum(c["header_packets_lost"] for c in own) / sum(c["header_packets_sent"] for c in own)

    return [name, of("one"), of("other")]
