"""Two TCPs or circuits share a link: §4.8.2 of paper 000."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from airtcp.facts.records import Run
from airtcp_studies.frame import (
    Case,
    Context,
    Result,
    Row,
    Runs,
    SweepPlot,
    Table,
    Tried,
    absolute,
    claim,
    experiment,
    info,
    ratio,
)
from airtcp_studies.papers.decoupling.paths import (
    ABOUT_1_MS,
    ACKS_VARY_BY_MS,
    BUFFERS,
    DECOUPLED,
    INTERFACES,
    RENO,
    RTT,
    STACK,
    TUNNEL_QUEUE,
    flow,
    shared,
)

FIFO = "{ packets = 50 }"
RED = '{ discipline = "red", packets = 50 }'
CIRCUIT = f"{RENO}+{DECOUPLED}"
TODAYS = f"reno+{DECOUPLED}"
VMSS = "VMSS 3000 and 1500"


class Setting(NamedTuple):
    """Two flows on the link that they share."""

    one: str
    two: str
    queue: str = FIFO
    vary_ms: float = ACKS_VARY_BY_MS
    interfaces: bool = True

    def case(self, rtt_ms: float, duration: str, seeds: int) -> Case:
        path = shared(rtt_ms, queue=self.queue, vary_ms=self.vary_ms, interfaces=self.interfaces)
        flows = flow("tcp1", self.one) + flow("tcp2", self.two)
        # Every flow has a scheme of its own, so none uses this one.
        return Case(path + flows, ("reno",), {"duration": duration}, seeds)


PAPERS = {
    "normal TCPs": Setting(RENO, RENO),
    "circuits": Setting(CIRCUIT, CIRCUIT),
    "2 control TCPs and 1": Setting(f"{CIRCUIT}:controls=2", CIRCUIT),
    VMSS: Setting(f"{CIRCUIT}:vmss=3000B", CIRCUIT),
}
QUOTED = {
    "normal TCPs": (645, 582),
    "circuits": (621, 567),
    "2 control TCPs and 1": (773, 399),
    VMSS: (750, 454),
}
VARIED = {
    "without the interfaces": PAPERS[VMSS]._replace(interfaces=False),
    "ACKs up to 0.4 ms later": PAPERS[VMSS]._replace(vary_ms=0.4),
    "ACKs up to 1.2 ms later": PAPERS[VMSS]._replace(vary_ms=1.2),
    "hosts of today (profile linux)": Setting(f"{TODAYS}:vmss=3000B", TODAYS),
}
"""The last pair under other settings."""
WITH_RED = {f"{name}, RED": setting._replace(queue=RED) for name, setting in PAPERS.items()}
OTHER_REDS: dict[str, dict[str, Any]] = {
    "RED's thresholds at 10 and 30": {
        "queue": '{ discipline = "red", packets = 50, min_threshold = 10, max_threshold = 30 }'
    },
    "RED that counts bytes": {"queue": '{ discipline = "red", packets = 50, mean_packet = "1500B" }'},
    "without the interfaces": {"queue": RED, "interfaces": False},
    "ACKs that do not vary": {"queue": RED, "vary_ms": 0.0},
}
"""Settings under which the cases run with RED again."""
SEEDS = 2
"""Runs per RTT."""


@experiment(
    "D1",
    where="§4.8.2",
    title="Two circuits share a link",
    parameters=(STACK, BUFFERS, TUNNEL_QUEUE, INTERFACES, RTT),
    seeds=SEEDS,
)
def d1(ctx: Context) -> Result:
    """Two flows on a 10 Mbit/s link for 5 minutes, FIFO with 50 packets (and RED), RTTs of about 1 ms, two
    runs of each: normal TCPs; circuits; circuits with 2 and 1 control TCPs; and of VMSS 3000 and 1500."""
    rtts = ctx.pick(ABOUT_1_MS, quick=ABOUT_1_MS[2:3])
    duration = ctx.pick("300s", quick="10s")
    found = ctx.sweep(
        {(name, rtt): setting.case(rtt, duration, SEEDS) for name, setting in PAPERS.items() for rtt in rtts}
        | {(name, rtt): setting.case(rtt, duration, 1) for name, setting in VARIED.items() for rtt in rtts}
        | {(name, 1.0): setting.case(1.0, duration, SEEDS) for name, setting in WITH_RED.items()}
    )
    red = {name: list(_of(found, f"{name}, RED").values()) for name in PAPERS}
    by_rtt = {name: _of(found, name) for name in (*PAPERS, *VARIED, *WITH_RED)}
    rows: list[Row] = []
    for name, quoted in QUOTED.items():
        rows += _pair(name, quoted, list(by_rtt[name].values()))
    holds, evidence = _similar(red)
    rows.append(
        claim(
            "the results with RED are similar",
            holds,
            evidence=evidence,
            tried=[] if ctx.quick else _other_reds(ctx, duration),
        )
    )
    rows += [info(f"… {name}", _all(by_rtt[name].values()), "", paper=1.65) for name in VARIED]
    table = Table(
        "Goodput in KB/s, and timeouts in a run: a circuit's are its control TCPs'",
        ("", *(f"{what} {n}" for what in ("TCP", "timeouts of TCP") for n in (1, 2))),
        [
            [name, *(of(runs.values(), f"tcp{n}") for of in (_goodput, _timeouts) for n in (1, 2))]
            for name, runs in by_rtt.items()
        ],
    )
    shown = (VMSS, *list(VARIED)[:3])
    plot = SweepPlot(
        "RTT [ms]",
        "goodput of VMSS 3000 over that of VMSS 1500",
        {name: {rtt: _shares(runs) for rtt, runs in by_rtt[name].items()} for name in shown},
        caption="What VMSS 3000 is worth beside 1500 in a FIFO, by the round trip: a matter of phase",
        quoted={VMSS: {1.0: 1.65}},
    )
    return Result(rows=rows, tables=(table,), figures={"phase": plot}, notes=(BURSTS,))


BURSTS = (
    "Without the interfaces, both VMSS that an ACK releases reach the queue at once, and where it is full "
    "both header packets of the larger VMSS are lost together, which Reno often repairs only by a timeout "
    "(table)."
)


def _of(found: Mapping[tuple[str, float], Runs], wanted: str) -> dict[float, Runs]:
    return {rtt: runs for (name, rtt), runs in found.items() if name == wanted}


def _pair(name: str, quoted: tuple[int, int], found: Sequence[Runs]) -> list[Row]:
    one, two = quoted
    together = [value for runs in found for value in runs.goodput("reno", "KB/s")]
    shares = _all(found)
    if name in ("normal TCPs", "circuits"):
        larger = [max(share, 1 / share) for share in shares]
        share = ratio(f"{name}: the larger over the smaller", round(one / two, 2), larger)
    else:
        share = ratio(f"{name}: TCP 1 over TCP 2", round(one / two, 2), shares)
    return [absolute(f"{name}: together", one + two, together, "KB/s"), share]


def _similar(found: Mapping[str, Sequence[Runs]]) -> tuple[bool, str]:
    """Returns whether the shares are those quoted for the FIFO, within the tolerance of a ratio."""
    rows = [_pair(name, QUOTED[name], of)[1] for name, of in found.items()]
    shown = ", ".join(f"{row.ours.mean:.2f} ({row.paper[0]:g})" for row in rows if row.ours and row.paper)
    return all(row.verdict == "agrees" for row in rows), f"goodputs' ratios, and in the paper's FIFO: {shown}"


def _other_reds(ctx: Context, duration: str) -> list[Tried]:
    found = ctx.sweep(
        {
            (setting, name): papers._replace(**changed).case(1.0, duration, SEEDS)
            for setting, changed in OTHER_REDS.items()
            for name, papers in PAPERS.items()
        }
    )
    similar = {setting: _similar({name: [found[setting, name]] for name in PAPERS}) for setting in OTHER_REDS}
    return [Tried(setting, holds=holds, evidence=shown) for setting, (holds, shown) in similar.items()]


def _all(found: Iterable[Runs]) -> list[float]:
    return [share for runs in found for share in _shares(runs)]


def _shares(runs: Runs) -> list[float]:
    return [
        one / two
        for one, two in zip(runs.goodput("reno", flow="tcp1"), runs.goodput("reno", flow="tcp2"), strict=True)
    ]


def _goodput(found: Iterable[Runs], name: str) -> float:
    return fmean(value for runs in found for value in runs.goodput("reno", "KB/s", name))


def _timeouts(found: Iterable[Runs], name: str) -> float:
    def of(run: Run) -> int:
        circuits = [circuit["timeouts"] for circuit in run["circuits"] if circuit["name"] == name]
        return sum(circuits or [flow["timeouts"] for flow in run["flows"] if flow["name"] == name])

    return fmean(value for runs in found for value in runs.values("reno", of))
