"""What a circuit gets beside others: guaranteed bandwidth, several control TCPs (§4.5)."""

from __future__ import annotations

from statistics import fmean, pstdev

from airtcp.facts.records import Run
from airtcp_studies.frame import (
    Case,
    Context,
    OpenParameter,
    Result,
    Runs,
    SweepPlot,
    Table,
    claim,
    experiment,
    info,
    ratio,
    ratio_of,
)
from airtcp_studies.papers.decoupling.circuits import CIRCUIT, throughput
from airtcp_studies.papers.decoupling.paths import BUFFERS, MTU_BYTES, RENO, STACK, flow, link


def contested(queue: str, greedy: int) -> str:
    """A stream with a guaranteed minimum, and greedy TCPs."""
    return f"""
duration = "120s"
warmup = "20s"
[[link]]
name = "shared"
rate = "10Mbit/s"
delay = "20ms"
queue = {queue}
reverse = {{ queue = {{ packets = 100 }} }}
[[flow]]
name = "stream"
[[flow]]
name = "greedy"
count = {greedy}
stagger = "3s"
scheme = "{RENO}"
"""


GMB_MBIT = 3.0
RED = '{ discipline = "red", packets = 100, min_threshold = 10, max_threshold = 30, mean_packet = "1500B" }'
FIFO = "{ packets = 100 }"


@experiment(
    "D6",
    where="§4.5.2",
    title="A guaranteed minimum bandwidth beside greedy TCPs",
    parameters=(
        STACK,
        BUFFERS,
        OpenParameter("GMB and path", "3 of 10 Mbit/s, RTT 40 ms", "not stated"),
        OpenParameter(
            "queue",
            "RED, thresholds 10 and 30 of 100 packets, and FIFO of 100 packets",
            "“the common FIFO or RED” (§4.7); RED drops each packet with the same probability, in a FIFO the "
            "header packet stands right behind the data that has taken the last place",
        ),
    ),
)
def d6(ctx: Context) -> Result:
    """One circuit with a GMB of 3 Mbit/s, against 2 to 12 greedy flows of plain Reno."""
    stream = f"{CIRCUIT}:gmb={GMB_MBIT:.0f}Mbit/s"
    sets = {"duration": ctx.pick("120s", quick="30s")}
    counts = ctx.pick((2, 4, 8, 12), quick=(2, 8))
    found = ctx.sweep(
        {
            (name, greedy): Case(contested(queue, greedy), [stream], sets)
            for name, queue in (("RED", RED), ("FIFO", FIFO))
            for greedy in counts
        }
    )

    def rates(name: str, flow: str) -> dict[float, list[float]]:
        """Returns one flow's Mbit/s, by the number of greedy ones."""
        return {
            greedy: [
                fmean(one["throughput_bps"] for one in run["flows"] if one["name"] == flow) / 1e6
                for run in found[name, greedy].of(stream)
            ]
            for greedy in counts
        }

    ours, share = rates("RED", "stream"), rates("RED", "greedy")
    least = min(min(values) for values in ours.values())
    return Result(
        rows=(
            claim(
                "the stream never gets less than its GMB",
                least >= GMB_MBIT,
                evidence=f"at least {least:.2f} Mbit/s, whatever the number of greedy flows and the seed",
            ),
            *(
                ratio(
                    f"stream over GMB and a TCP's share, {greedy} greedy flows",
                    1,
                    ratio_of(ours[greedy], [GMB_MBIT + value for value in share[greedy]]),
                )
                for greedy in counts
            ),
            ratio(
                "what leaves without header packets, over the GMB",
                1,
                [
                    unconditional(run) / GMB_MBIT
                    for greedy in counts
                    for run in found["RED", greedy].of(stream)
                ],
            ),
            *(
                info(f"with a FIFO, {greedy} greedy flows", values, "Mbit/s")
                for greedy, values in rates("FIFO", "stream").items()
            ),
        ),
        figures={
            "gmb": SweepPlot(
                "greedy flows",
                "throughput [Mbit/s]",
                {
                    "stream with a GMB of 3 Mbit/s": ours,
                    "a greedy flow": share,
                    "stream, in a FIFO": rates("FIFO", "stream"),
                },
                caption="A guaranteed minimum beside greedy flows, and a TCP's share of the rest",
            )
        },
    )


def unconditional(run: Run) -> float:
    """Returns the Mbit/s of the GMB sender: what is forwarded beyond a VMSS for each header packet."""
    (circuit,) = run["circuits"]
    beyond = circuit["forwarded_bytes"] - circuit["header_packets_sent"] * MTU_BYTES
    return 8e-6 * beyond / (run["duration_s"] - run["warmup_s"])


BESIDE = f"""
duration = "300s"
warmup = "20s"
[[link]]
name = "shared"
rate = "10Mbit/s"
delay = "20ms"
queue = {RED}
reverse = {{ queue = {{ packets = 100 }} }}
[[flow]]
name = "stream"
[[flow]]
name = "other"
count = 4
stagger = "3s"
scheme = "{CIRCUIT}"
"""
ALONE = """
duration = "300s"
warmup = "60s"
[[link]]
name = "lossy"
rate = "40Mbit/s"
delay = "100ms"
queue = { packets = 1000 }
loss = { ber = 2e-6 }
"""
SAMPLE_S = 1.0

CUBIC = "cubic"
TODAYS = {
    "Reno control": "reno+decoupling",
    "CUBIC control": "cubic+decoupling",
    "CUBIC control, twice": "cubic+decoupling:compression=twice",
    "CUBIC control, no loss reports": "cubic+decoupling:loss_reports=false",
}
"""Circuits of today, and one that learns of congestion only by header packets."""
QUEUES = {
    f"{packets} packets, counted in {unit}": f"{{ {unit} = {room} }}"
    for packets in (25, 50)
    for unit, room in (("packets", packets), ("bytes", f'"{packets * 1500}B"'))
}
UNITS = ("packets", "bytes")
KEPT = 0.8


@experiment(
    "D7",
    where="§4.5.1",
    title="Several control TCPs for one stream",
    parameters=(
        STACK,
        BUFFERS,
        OpenParameter("path of the shares", "10 Mbit/s, RTT 40 ms, RED as in D6", "not stated"),
        OpenParameter(
            "path of the variation",
            "40 Mbit/s, RTT 200 ms, BER 2e-6, buffers of 4 MB",
            "not stated; so fast that bit errors alone limit, and each halving is one control TCP's own",
        ),
    ),
)
def d7(ctx: Context) -> Result:
    """A circuit with 1 to 8 control TCPs: beside four circuits with one, and alone on a lossy link. Beyond
    the paper: today's circuits beside CUBIC, in queues that count packets or bytes."""
    sets = {"duration": ctx.pick("300s", quick="100s")}
    several = ctx.pick((1, 2, 4, 8), quick=(1, 4))
    schemes = {count: f"{CIRCUIT}:controls={count}:receive_window=4MB" for count in several}
    beside = ctx.sweep({count: Case(BESIDE, [scheme], sets) for count, scheme in schemes.items()})
    alone = ctx.run(
        ALONE, list(schemes.values()), sets, seeds=4, series_interval_s=SAMPLE_S, series_of_every_seed=True
    )
    kept = cubic_keeps(ctx)
    circuits = list(TODAYS)[:-1]
    least = {
        unit: min(fmean(kept[q, c]) for q in QUEUES if q.endswith(unit) for c in circuits) for unit in UNITS
    }
    shares = {
        count: ratio_of(throughput(runs, "stream"), [value / 4 for value in throughput(runs, "other")])
        for count, runs in beside.items()
    }
    spread: dict[float, list[float]] = {count: variation(alone, scheme) for count, scheme in schemes.items()}
    means = [fmean(values) for values in spread.values()]
    return Result(
        rows=(
            *(
                ratio(f"shares of a circuit with {count} control TCPs", count, found)
                for count, found in shares.items()
            ),
            claim(
                f"{several[-1]} control TCPs make the stream smoother than one",
                means[-1] < 0.75 * means[0],
                evidence=", ".join(
                    f"{mean:.0f} % with {count}" for count, mean in zip(spread, means, strict=True)
                )
                + f": standard deviation of the rate over {SAMPLE_S:.0f} s",
            ),
            *(
                info(
                    f"what CUBIC keeps beside a circuit of today, queues of {unit}",
                    100 * share,
                    "%",
                )
                for unit, share in least.items()
            ),
        ),
        tables=(
            Table(
                "What CUBIC keeps beside a circuit of today, of what it has beside CUBIC",
                ("queue", *TODAYS),
                [[queue, *(round(fmean(kept[queue, name]), 2) for name in TODAYS)] for queue in QUEUES],
            ),
        ),
        figures={
            "smooth": SweepPlot(
                "control TCPs",
                "standard deviation of the rate [%]",
                {"a circuit on a lossy link": spread},
                caption="One halving takes 1/(2M) of the stream's rate",
                bounds={"∝ 1/√M": {count: means[0] / count**0.5 for count in several}},
            )
        },
    )


def cubic_keeps(ctx: Context) -> dict[tuple[str, str], list[float]]:
    """Returns one value per seed, by queue and circuit. RTT 40 ms, ACKs up to 0.4 ms later."""
    sets = {"duration": ctx.pick("120s", quick="30s"), "warmup": "10s"}
    found = ctx.sweep(
        {
            (queue, name): Case(
                link("10Mbit/s", 40, queue=room, acks_vary_by="0.4ms")
                + flow("other1", CUBIC)
                + flow("stream", scheme),
                ("reno",),
                sets,
            )
            for queue, room in QUEUES.items()
            for name, scheme in {CUBIC: CUBIC, **TODAYS}.items()
        }
    )
    carried = {key: throughput(runs, "other1") for key, runs in found.items()}
    return {
        (queue, name): [
            one / own for one, own in zip(carried[queue, name], carried[queue, CUBIC], strict=True)
        ]
        for queue in QUEUES
        for name in TODAYS
    }


def variation(runs: Runs, scheme: str) -> list[float]:
    """Returns the standard deviation, in percent of the mean, of the rate of new data; one value per seed."""
    ends = [series.flows["nxt_bytes"].diff().drop_nulls().to_list() for series in runs.every_series(scheme)]
    return [100 * pstdev(found) / fmean(found) for found in ends]
