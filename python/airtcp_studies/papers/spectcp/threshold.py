"""S1 to S3: how high RED's average queue rises, and which maximum threshold avoids packet loss."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from airtcp.facts.records import Link, Run
from airtcp.facts.stats import Estimate, estimate
from airtcp_studies.frame import (
    Case,
    Context,
    OpenParameter,
    Result,
    Row,
    Runs,
    Table,
    absolute,
    claim,
    experiment,
    info,
)
from airtcp_studies.model.formulas import red_maximum_average_queue
from airtcp_studies.papers.spectcp.red import HEADER_BYTES, RECOMMENDED, WEIGHT, Thresholds

FLOWS = 2
WINDOW = 27
START_S = 1.0
PACKET_BYTES = 1000
MARKED = "bottleneck"
"""The link whose queue marks."""

DUMBBELL = f"""
duration = "20s"
profile = "ns2-2.1b6"

# One chain stands for the access links of both sources: their rates together.
[[link]]
name = "sources"
rate = "20Mbit/s"
delay = "2ms"

[[link]]
name = "{MARKED}"
rate = "5Mbit/s"
delay = "20ms"
queue = {RECOMMENDED.queue()}
reverse = {{ queue = {{ packets = 1000 }} }}

[[link]]
name = "sinks"
rate = "10Mbit/s"
delay = "5.9ms"
"""
SOURCES = f"""
[[flow]]
name = "source"
count = {FLOWS}
start = "{START_S:g}s"
"""

DUMBBELL_PARAMETERS = (
    OpenParameter("flows", str(FLOWS), "the least that share a queue; Fig 5 speaks of 'source 1'"),
    OpenParameter(
        "receiver's window and initial ssthresh",
        f"{WINDOW} segments",
        "alike, as in §IV and in ns-2, so that the queue is largest when cwnd reaches ssthresh (§III-D). The "
        "value is inferred from one row: with it, and with none below it, every run loses packets at Table "
        "III's 7. The other rows test it. The extracted Fig 5 has labels of cwnd up to 22, but not all",
    ),
    OpenParameter(
        "delay of the sinks' links",
        "5.9 ms",
        "§III-D chooses a round trip of 59 ms for all: of a packet and its ACK where nothing queues. The "
        "label of these links is lost in the extracted Fig 3",
    ),
    OpenParameter(
        "start of the sources",
        f"{START_S:g} s, all of them",
        "§III-B: at the same time; ns-2's examples start FTP at 1 s",
    ),
    OpenParameter("spacing of marks (`wait`)", "on", "ns-2's default"),
    OpenParameter("buffer", "50 packets", "ns-2's default; never reached"),
    OpenParameter("packet", "1000 B", "ns-2's default, and §IV's"),
)

CASES = {
    "Case 1": (Thresholds(5, 15, 0.1), 7.6, 7.3),
    "Case 2": (Thresholds(5, 15, 0.2), 7.1, 6.7),
    "Case 3": (Thresholds(7, 21, 0.1), 9.9, 9.6),
}
"""Table II: maximum average queue in the simulation and by the model."""

WINDOWS = (23, 24, 26, WINDOW, 28, 30)
AS_ABOVE = "as above"
WIDE = "a receiver's window of 64, ssthresh as given"
VARIANTS: dict[str, dict[str, object]] = {
    AS_ABOVE: {},
    "marks not spaced (`wait` off)": {f"link.{MARKED}.queue.wait": "false"},
    "59 ms of propagation alone": {"link.sinks.delay": "7.5ms"},
    "51 ms with no queue, sinks at 2 ms": {"link.sinks.delay": "2ms"},
    WIDE: {},
}
"""Other open parameters of the paper, as keys of the scenario."""


def dumbbell(
    red: Thresholds,
    *,
    window: int = WINDOW,
    variant: str = AS_ABOVE,
    seeds: int | None = None,
    series: bool = False,
) -> Case:
    received = (64 if variant == WIDE else window) * (PACKET_BYTES - HEADER_BYTES)
    scheme = f"reno:ecn=true:receive_window={received}B:initial_ssthresh={window}"
    sets = {f"link.{MARKED}.queue": red.queue()} | VARIANTS[variant]
    if series:
        return Case(DUMBBELL + SOURCES, [scheme], sets | {"duration": "10s"}, seeds, 0.0, True)
    return Case(DUMBBELL + SOURCES, [scheme], sets, seeds)


def marked(run: Run) -> Link:
    return next(link for link in run["links"] if link["name"] == MARKED and link["direction"] == "forward")


def largest_average(runs: Runs) -> list[float]:
    return runs.values(runs.schemes[0], lambda run: marked(run)["queue_average_max"] or 0.0)


def dropped(runs: Runs) -> list[float]:
    return runs.values(runs.schemes[0], lambda run: marked(run)["drops_aqm"] + marked(run)["drops_overflow"])


@experiment("S1", where="Table II", title="RED's maximum average queue", parameters=DUMBBELL_PARAMETERS)
def s1(ctx: Context) -> Result:
    """Two ECN-capable sources over a bottleneck of 5 Mbit/s and 20 ms with RED, w 0.002; 20 s. The model is
    eq. (8) with p at the maximum itself."""
    found = ctx.sweep({name: dumbbell(red) for name, (red, _, _) in CASES.items()})
    swept = ctx.sweep(
        {
            (variant, window, name): dumbbell(red, window=window, variant=variant, seeds=3)
            for variant in VARIANTS
            for window in ctx.pick(WINDOWS, quick=(WINDOW,))
            for name, (red, _, _) in CASES.items()
        }
    )
    by_model = {name: modelled(red, WINDOW) for name, (red, _, _) in CASES.items()}
    ours = {name: estimate(largest_average(runs)) for name, runs in found.items()}
    off = max(abs(by_model[name] / ours[name].mean - 1) for name in CASES)
    rows = [
        absolute(f"{name}: {red}, simulation", paper, ours[name], "packets")
        for name, (red, paper, _) in CASES.items()
    ]
    rows += [
        absolute(f"{name}: {red}, model", model, by_model[name], "packets")
        for name, (red, _, model) in CASES.items()
    ]
    rows.append(
        claim(
            "the model agrees with the simulation",
            off < 0.15,
            evidence=f"they differ by at most {100 * off:.0f} %; in the paper, by at most 6 %",
        )
    )
    run = found["Case 1"].of(found["Case 1"].schemes[0])[0]
    rows.append(info("RTT, median", run["flows"][0]["rtt_p50_ms"] or 0.0, "ms", paper=59))
    note = "In the extracted text it is not certain which of the two columns of Table II is the simulation."
    return Result(rows=rows, tables=(window_table(swept),), notes=(note,))


def modelled(red: Thresholds, window: int) -> float:
    return red_maximum_average_queue(red.low, red.high, red.probability, WEIGHT, [float(window)] * FLOWS)


def window_table(swept: dict[tuple[str, int, str], Runs]) -> Table:
    """Returns the effect of the open parameters."""
    rows: list[list[str | float | Estimate | None]] = [
        [
            variant,
            f"{window}",
            *(estimate(largest_average(swept[variant, window, name])) for name in CASES),
            *(modelled(red, window) for red, _, _ in CASES.values()),
        ]
        for variant, window in dict.fromkeys((variant, window) for variant, window, _ in swept)
    ]
    return Table(
        "Maximum average queue in packets by what the paper leaves open (3 runs each)",
        ["", "window", *CASES, *(f"{name}, model" for name in CASES)],
        rows,
    )


TABLE_3 = {15: "no", 8: "no", 7: "yes"}


@experiment(
    "S2", where="Table III", title="Drops against the maximum threshold", parameters=DUMBBELL_PARAMETERS
)
def s2(ctx: Context) -> Result:
    """As S1 with minth 5, maxp 0.1, and the maximum threshold varied; packets dropped at the bottleneck in
    20 s."""
    highs = (15, 8, 7, 6)
    windows = ctx.pick(WINDOWS, quick=(WINDOW,))
    found = ctx.sweep({high: dumbbell(Thresholds(5, high, 0.1)) for high in highs})
    swept = ctx.sweep(
        {
            (variant, window, high): dumbbell(
                Thresholds(5, high, 0.1), window=window, variant=variant, seeds=3
            )
            for variant in VARIANTS
            for window in windows
            for high in highs
        }
    )
    drops = {key: dropped(runs) for key, runs in swept.items()}
    chosen = {high: dropped(runs) for high, runs in found.items()}
    rows = [drop_row(high, said, chosen[high]) for high, said in TABLE_3.items()]
    rows.append(
        claim(
            "there is a maximum threshold, about half of the recommended one, below which packets are lost",
            max(chosen[8]) == 0 and min(chosen[6]) > 0,
            evidence=f"maxth 8: {said_drops(chosen[8])}; maxth 6: {said_drops(chosen[6])}",
        )
    )
    rows.append(shorter_queue(found[8], found[15]))
    table = Table(
        "Packets dropped in 20 s, by window and maximum threshold (3 runs each)",
        ["", "window", *(f"maxth {high}" for high in highs)],
        [
            [variant, f"{window}", *(estimate(drops[variant, window, high]) for high in highs)]
            for variant, window in dict.fromkeys((variant, window) for variant, window, _ in drops)
        ],
    )
    return Result(rows=rows, tables=(table,))


def shorter_queue(small: Runs, large: Runs) -> Row:
    """Asks what the smaller maximum threshold is for: buffer and delay."""
    found = [[marked(run) for run in runs.of(runs.schemes[0])] for runs in (small, large)]
    lengths = [fmean(link["queue_mean_packets"] for link in links) for links in found]
    most = [max(link["queue_max_packets"] for link in links) for links in found]
    return claim(
        "maxth 8 makes the queue shorter than 15 does",
        lengths[0] < lengths[1] and most[0] <= most[1],
        evidence=f"{lengths[0]:.2f} and {lengths[1]:.2f} packets on average, {most[0]} and {most[1]} at most",
    )


def drop_row(high: int, said: str, drops: Sequence[float]) -> Row:
    if said == "yes":
        note = "The window is inferred from it, so that it proves nothing."
        return info(f"maxth {high}: packets dropped; in the paper some are", drops, "packets", note=note)
    holds = max(drops) == 0
    return claim(f"maxth {high}: packets are dropped: {said}", holds, evidence=said_drops(drops))


def said_drops(drops: Sequence[float]) -> str:
    return f"{min(drops):g} to {max(drops):g} packets, by seed" if max(drops) else "none with any seed"
