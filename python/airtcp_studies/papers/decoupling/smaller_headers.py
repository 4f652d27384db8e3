"""What the paper leaves to the future (§10): header packets that are smaller, protected, or worth more."""

from __future__ import annotations

import math
from statistics import fmean

from airtcp_studies.frame import (
    BarPlot,
    Case,
    Context,
    OpenParameter,
    Result,
    Table,
    claim,
    experiment,
    info,
    ratio,
    ratio_of,
)
from airtcp_studies.papers.decoupling.paths import BSD, BUFFERS, DECOUPLED, HEADER_BYTES, MTU_BYTES

COMPRESSED_BYTES = 15
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
PROTECTION = {
    "FEC on header packets": {"link.wireless.fec": '{ only = "header-packets" }'},
    "ARQ on header packets": {"link.wireless.arq": '{ only = "header-packets" }'},
}
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
        BUFFERS,
        OpenParameter(
            "path",
            "40 Mbit/s, RTT 100 ms, BER 2e-6 on the last 5 ms of it",
            "not stated; as D4's, and so fast that bit errors alone limit",
        ),
        OpenParameter(
            "compression",
            "from one end of the circuit to the other; ACKs are not compressed",
            "the paper has it hop by hop, on the one link that loses, which is the same here",
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
    found = {name: goodputs(ctx, stack) for name, stack in STACKS.items()}
    sack = found["SACK"]
    plain, base = sack["plain TCP"], sack["decoupling"]
    timeouts = (
        "plain TCP's timeouts: at its small window it has one for every five fast retransmits, the control "
        "TCP hardly any, and the idealized TCP of the equations (§3) none."
    )
    rows = (
        ratio(
            "decoupling over SACK: √(MTU/HP_Sz)",
            round(math.sqrt(MTU_BYTES / HEADER_BYTES), 2),
            ratio_of(base, plain),
            moved_by=timeouts,
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
        *(info(f"{name}, over none", ratio_of(sack[name], base)) for name in PROTECTION),
    )
    table = Table(
        "Goodput in KB/s",
        ("", *(f"{name} in control TCPs" for name in STACKS)),
        [[name, *(fmean(values[name]) for values in found.values())] for name in sack],
    )
    plot = BarPlot(
        "goodput [KB/s]",
        {f"{name} in control TCPs": values for name, values in found.items()},
        caption="Beyond the paper: what smaller, protected and larger units of control bring",
    )
    return Result(rows=rows, tables=(table,), figures={"beyond": plot})


def goodputs(ctx: Context, stack: str) -> dict[str, list[float]]:
    """Returns KB/s, one value per seed, by the treatment of header packets."""
    duration = {"duration": ctx.pick("150s", quick="25s")}
    circuit = f"{stack}+{DECOUPLED}"
    schemes = {"plain TCP": stack} | {name: circuit + keys for name, keys in CIRCUITS.items()}
    found = ctx.sweep(
        {"": Case(PATH, list(schemes.values()), duration)}
        | {name: Case(PATH, [circuit], duration | sets) for name, sets in PROTECTION.items()}
    )
    unprotected = {name: found[""].goodput(scheme, "KB/s") for name, scheme in schemes.items()}
    return unprotected | {name: found[name].goodput(circuit, "KB/s") for name in PROTECTION}
