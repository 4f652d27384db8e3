"""What the paper leaves to the future (§10): header packets that are smaller, protected, or worth more."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean
from typing import NamedTuple

from airtcp.facts.stats import Estimate
from airtcp_studies.frame import (
    BarPlot,
    Case,
    Context,
    OpenParameter,
    Result,
    Runs,
    Table,
    claim,
    experiment,
    info,
    ratio,
    ratio_of,
)
from airtcp_studies.model.formulas import maximum_allowable_window, packet_error_rate_first_order
from airtcp_studies.papers.decoupling.paths import BSD, DECOUPLED, HEADER_BYTES, MTU_BYTES

COMPRESSED_BYTES = 15
IDEAL_BER = 1e-6
"""Plain TCP's W is 14, of which §7 says that it eliminates timeouts."""
WINDOW = "receive_window=8MB:window_scaling=true"
STACKS = {
    "SACK": f"sack:profile=bsd-1998:timestamps=true:{WINDOW}",
    "Reno": f"reno:{BSD}:{WINDOW}",
}
"""Stacks of the control TCPs, and of plain TCP."""
CIRCUITS = {
    "decoupling": "",
    "RFC 1144": ":compression=rfc1144",
    "twice": ":compression=twice",
    "VMSS 3000": ":vmss=3000B",
    "VMSS 6000": ":vmss=6000B",
    "twice, VMSS 3000": ":compression=twice:vmss=3000B",
}
COMPRESSION_ON_THE_LINK = {
    "RFC 1144 on the wireless link": {"link.wireless.compression": "rfc1144"},
    "twice on the wireless link": {"link.wireless.compression": "twice"},
}
PROTECTION = {
    "FEC on header packets": {"link.wireless.fec": '{ only = "header-packets" }'},
    "ARQ on header packets": {"link.wireless.arq": '{ only = "header-packets" }'},
}
ON_THE_LINK = COMPRESSION_ON_THE_LINK | PROTECTION
PATH = """
duration = "150s"
warmup = "20s"
[[link]]
name = "wired"
rate = "100Mbit/s"
delay = "45ms"
queue = { packets = 1000 }
[[link]]
name = "wireless"
rate = "40Mbit/s"
delay = "5ms"
queue = { packets = 400 }
loss = { ber = 2e-6 }
"""


@experiment(
    "D9",
    where="§10; abstract",
    title="Smaller, protected, and larger",
    parameters=(
        OpenParameter("socket buffers", "8 MB", "not stated; so large that bit errors alone limit"),
        OpenParameter(
            "path",
            "40 Mbit/s, RTT 100 ms, BER 2e-6 on the last 5 ms of it",
            "not stated; as D4's, and so fast that bit errors alone limit",
        ),
        OpenParameter(
            "bit errors of the √ law",
            f"BER {IDEAL_BER:g}",
            "the equations' TCP never times out (§3), and “a sufficiently large value such as 14 eliminates "
            "this timeout problem” (§7): at this BER plain TCP's W is 14",
        ),
        OpenParameter(
            "compression",
            "from end to end of the circuit, and on the wireless link alone; ACKs are not compressed",
            "the paper has it hop by hop, on wireless links; from end to end it needs nothing of them",
        ),
        OpenParameter(
            "FEC and ARQ",
            "RS(255, 223); three repetitions, in order",
            "not stated; a common code, and what 802.11 of that time did",
        ),
    ),
    seeds=4,
)
def d9(ctx: Context) -> Result:
    """One connection alone on a fast lossy path. The paper has no numbers; quoted is what its eqs (1) to (3)
    promise: a goodput in proportion to VMSS/√(size of a header packet)."""
    runs = {name: circuits(ctx, stack) for name, stack in STACKS.items()}
    found = {name: goodputs(of, STACKS[name]) for name, of in runs.items()}
    sack = found["SACK"]
    corrupted = {
        shown: data_corrupted(runs["SACK"][""], STACKS["SACK"], CIRCUITS[name])
        for shown, name in (("VMSS 1500", "decoupling"), ("VMSS 3000",) * 2, ("VMSS 6000",) * 2)
    }
    base = sack["decoupling"]
    laws = square_root(ctx)
    rows = (
        ratio(
            "decoupling over SACK: √(MTU/HP_Sz)",
            round(math.sqrt(MTU_BYTES / HEADER_BYTES), 2),
            laws[IDEAL_BER].gain,
        ),
        *(
            info(f"… at BER {ber:g}, where plain TCP's W is {packets(ber):.0f}", law.gain)
            for ber, law in laws.items()
            if ber != IDEAL_BER
        ),
        *(
            info(f"plain TCP's timeouts for 100 fast retransmits, BER {ber:g}", law.timeouts)
            for ber, law in laws.items()
        ),
        ratio(
            "header packets of 15 B over 52 B, with twice",
            round(math.sqrt(HEADER_BYTES / COMPRESSED_BYTES), 2),
            ratio_of(sack["twice"], base),
        ),
        claim(
            "without twice, compression gains less",
            fmean(base) < fmean(sack["RFC 1144"]) < fmean(sack["twice"]),
            evidence=", ".join(f"{name} {fmean(sack[name]):.0f} KB/s" for name in list(CIRCUITS)[:3]),
        ),
        ratio("VMSS 3000 over 1500", 2, ratio_of(sack["VMSS 3000"], base)),
        ratio("VMSS 6000 over 1500", 4, ratio_of(sack["VMSS 6000"], base)),
        claim(
            "a larger VMSS leaves the data's packet error rate as it is (§4.8.3)",
            all(abs(share / corrupted["VMSS 1500"] - 1) < SAME for share in corrupted.values()),
            evidence=", ".join(f"{100 * share:.2f} % with {name}" for name, share in corrupted.items()),
        ),
        claim(
            "FEC or ARQ on header packets alone raises the goodput",
            all(fmean(sack[name]) > fmean(base) for name in PROTECTION),
            evidence=", ".join(f"{name}: {fmean(sack[name]):.0f} KB/s" for name in PROTECTION)
            + f", neither: {fmean(base):.0f}",
        ),
        *(info(f"{name}, over none", ratio_of(sack[name], base)) for name in ON_THE_LINK),
    )
    table = Table(
        "Goodput in KB/s",
        ("", *(f"{name} in control TCPs" for name in STACKS)),
        [[name, *(fmean(values[name]) for values in found.values())] for name in sack],
    )
    plot = BarPlot(
        "goodput [KB/s]",
        {f"{stack} in control TCPs": drawn(values) for stack, values in found.items()},
        caption="Beyond the paper: what smaller, protected and larger units of control bring",
    )
    return Result(rows=rows, tables=(table,), figures={"beyond": plot})


def drawn(values: dict[str, list[float]]) -> dict[str, list[float]]:
    """Leaves out of the figure what would repeat the bars of compression from end to end."""
    return {name: value for name, value in values.items() if name not in COMPRESSION_ON_THE_LINK}


class Law(NamedTuple):
    """Decoupling beside plain TCP, both with SACK."""

    gain: Estimate
    timeouts: Estimate
    """Plain TCP's, for 100 fast retransmits."""


def square_root(ctx: Context) -> dict[float, Law]:
    """Returns the gain by bit error rate."""
    plain, circuit = STACKS["SACK"], f"{STACKS['SACK']}+{DECOUPLED}"
    duration = {"duration": ctx.pick("150s", quick="25s")}
    found = ctx.sweep(
        {
            ber: Case(PATH, [plain, circuit], duration | {"link.wireless.loss.ber": ber})
            for ber in ctx.pick((IDEAL_BER, 2e-6), quick=(IDEAL_BER,))
        }
    )
    return {
        ber: Law(
            ratio_of(runs.goodput(circuit), runs.goodput(plain)),
            ratio_of(
                runs.total(plain, lambda flow: 100 * flow["timeouts"]),
                runs.total(plain, lambda flow: flow["fast_retransmits"]),
            ),
        )
        for ber, runs in found.items()
    }


def packets(ber: float) -> float:
    """Returns plain TCP's W (eqs 1 and 2)."""
    return maximum_allowable_window(packet_error_rate_first_order(ber, MTU_BYTES))


def circuits(ctx: Context, stack: str) -> dict[str, Runs]:
    """Returns the runs without help of the link (empty name) and with each kind."""
    duration = {"duration": ctx.pick("150s", quick="25s")}
    schemes = [stack, *(f"{stack}+{DECOUPLED}{keys}" for keys in CIRCUITS.values())]
    return ctx.sweep(
        {"": Case(PATH, schemes, duration)}
        | {name: Case(PATH, [f"{stack}+{DECOUPLED}"], duration | sets) for name, sets in ON_THE_LINK.items()}
    )


def goodputs(runs: Mapping[str, Runs], stack: str) -> dict[str, list[float]]:
    """Returns KB/s, one value per seed, by the treatment of header packets."""
    circuit = f"{stack}+{DECOUPLED}"
    schemes = {"plain TCP": stack} | {name: circuit + keys for name, keys in CIRCUITS.items()}
    unprotected = {name: runs[""].goodput(scheme, "KB/s") for name, scheme in schemes.items()}
    return unprotected | {name: runs[name].goodput(circuit, "KB/s") for name in ON_THE_LINK}


SAME = 0.15


def data_corrupted(runs: Runs, stack: str, keys: str) -> float:
    """Returns the share of data packets that are corrupted."""
    scheme = f"{stack}+{DECOUPLED}{keys}"
    lost, sent = (
        sum(runs.total(scheme, of))
        for of in (lambda flow: flow["losses_corruption"], lambda flow: flow["data_packets_sent"])
    )
    return lost / max(1.0, sent)
