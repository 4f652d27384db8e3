"""S4: SpecTCP and TCP with ECN over a satellite with bit errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from airtcp.facts.stats import Estimate, estimate
from airtcp_studies.frame import (
    Case,
    Context,
    OpenParameter,
    Result,
    Row,
    Runs,
    SweepPlot,
    Table,
    claim,
    experiment,
    gain,
    gain_of,
    info,
    ratio,
    ratio_of,
)
from airtcp_studies.model.formulas import packet_error_rate
from airtcp_studies.papers.spectcp.red import HEADER_BYTES, RECOMMENDED, WEIGHT

SATELLITE = f"""
profile = "ns2-2.1b6"

[[link]]
name = "lan"
rate = "10Mbit/s"
delay = "1ms"

[[link]]
name = "satellite"
rate = "64kbit/s"
delay = "280ms"
queue = {RECOMMENDED.queue()}

[[link]]
name = "far-lan"
rate = "10Mbit/s"
delay = "1ms"
"""


@dataclass(frozen=True)
class Repair:
    """Loss detection and retransmission, the same for both TCPs compared."""

    name: str
    keys: str = ""
    window: int = 30
    """Receiver's window, in segments."""

    def scheme(self, term: str, packet: int) -> str:
        window = f"receive_window={self.window * (packet - HEADER_BYTES)}B"
        return f"{term}:packet_size={packet}:{window}:initial_ssthresh=30{self.keys}"


NS2 = Repair("Reno as in ns-2")
RACK = Repair("RACK-TLP", ":recovery=rack-tlp:sack=true")
WIDE = Repair("RACK-TLP, window 60", RACK.keys, 60)
OTHER_REPAIRS = (
    Repair("NewReno", ":recovery=newreno"),
    Repair("SACK", ":recovery=sack:sack=true"),
    Repair("Reno, the timer without back-off", ":rto.backoff=false"),
    WIDE,
)
ECN, SPEC = "reno:ecn=true", "spectcp"
NAMES = {ECN: "ECN TCP", SPEC: "SpecTCP"}
BERS = (1e-7, 1e-6, 5e-6, 1e-5, 2e-5, 4e-5, 5e-5, 8e-5, 1.2e-4)
RATE_BPS = 64e3


def packet_bytes(ber: float) -> int:
    return 1000 if ber < 5e-5 else 512


def satellite(ber: float, repair: Repair, *, quick: bool, seeds: int | None = None) -> Case:
    """Runs are longer with many errors (§IV: simulation time as a function of the BER)."""
    duration = 200 if quick else 2000 if ber < 2e-5 else 4000
    schemes = [repair.scheme(term, packet_bytes(ber)) for term in NAMES]
    sets = {"duration": f"{duration}s", "link.satellite.loss.ber": ber}
    return Case(SATELLITE, schemes, sets, seeds)


SATELLITE_PARAMETERS = (
    OpenParameter(
        "how losses are repaired",
        "two ways: ns-2's Reno, RACK-TLP",
        "the paper says 'Fast Recovery' and no more; with Reno a second loss in a window, or a "
        "retransmission that is lost again, waits for a timer that doubles, whatever cwnd is. RACK-TLP is "
        "what a stack of today repairs with",
    ),
    OpenParameter(
        "RED at the routers",
        f"{RECOMMENDED}, w {WEIGHT:g}, 50 packets",
        "§III's recommended ones; ns-2's default buffer",
    ),
    OpenParameter("delay of the LANs", "1 ms", "nothing beside 280 ms"),
    OpenParameter(
        "ECN",
        "RFC 3168's, with ECN-capable retransmissions",
        "RFC 2481, which the paper names, and ns-2 let retransmissions be marked; RFC 3168 does not",
    ),
    OpenParameter(
        "bit errors",
        "1 − (1 − BER)^bits, in both directions",
        "the link is full-duplex and 'has a BER'; the form is ns-2's",
    ),
    OpenParameter(
        "duration",
        "2 000 s, and 4 000 s from BER 2e-5",
        "the paper makes it a function of the BER, and gives no numbers",
    ),
)


@experiment("S4", where="Figs 8 and 9", title="Goodput over a satellite", parameters=SATELLITE_PARAMETERS)
def s4(ctx: Context) -> Result:
    """One transfer between LANs of 10 Mbit/s over 64 kbit/s and 280 ms with RED that marks; receiver's window
    and initial ssthresh 30 segments; packets of 1000 B, and of 512 B from BER 5e-5."""
    bers = ctx.pick(BERS, quick=(1e-7, 1e-5, 5e-5, 1.2e-4))
    found = ctx.sweep(
        {(repair, ber): satellite(ber, repair, quick=ctx.quick) for repair in (NS2, RACK) for ber in bers}
    )
    others = ctx.sweep(
        {
            (repair, ber): satellite(ber, repair, quick=ctx.quick, seeds=3)
            for repair in OTHER_REPAIRS
            for ber in (1e-5, 5e-5)
        }
    )
    all_found = found | others
    rows = [row for repair in (RACK, NS2) for row in rows_of(repair, all_found, bers)]
    delivered = 100 * ((1 - packet_error_rate(5e-5, 512)) / (1 - packet_error_rate(1e-5, 1000)) - 1)
    rows.append(
        info(
            "what the link delivers at 5e-5, against 1e-5",
            delivered,
            "%",
            note="(1 − PER) of 512 B packets over that of 1000 B packets: the 12 % by which the paper's "
            "SpecTCP falls",
        )
    )
    figures = {
        "fig8": sweep_plot(found, bers, "goodput [kbit/s]", "Goodput (the paper's Fig 8)", goodput_kbps, 1.0),
        "fig9": sweep_plot(
            found,
            bers,
            "throughput / 64 kbit/s",
            "Normalized throughput (the paper's Fig 9)",
            normalized,
            0.0,
        ),
    }
    return Result(rows=rows, figures=figures, tables=(repair_table(all_found),))


Found = dict[tuple[Repair, float], Runs]


def goodput_kbps(runs: Runs, scheme: str) -> list[float]:
    return runs.goodput(scheme, "kbit/s")


def normalized(runs: Runs, scheme: str) -> list[float]:
    return [bps / RATE_BPS for bps in runs.total(scheme, lambda flow: flow["throughput_bps"])]


def goodput(found: Found, repair: Repair, ber: float, term: str) -> list[float]:
    return goodput_kbps(found[repair, ber], repair.scheme(term, packet_bytes(ber)))


def speed_up(found: Found, repair: Repair, ber: float) -> Estimate:
    return ratio_of(goodput(found, repair, ber, SPEC), goodput(found, repair, ber, ECN))


def received(found: Found, repair: Repair, ber: float, term: str) -> list[float]:
    """Returns all data packets that arrive, duplicates included, as a share of the link's rate."""
    return normalized(found[repair, ber], repair.scheme(term, packet_bytes(ber)))


def fall(found: Found, repair: Repair, term: str) -> Estimate:
    """Returns the decrease from BER 1e-5 to 5e-5, in percent."""
    return gain_of(goodput(found, repair, 5e-5, term), goodput(found, repair, 1e-5, term))


def rows_of(repair: Repair, found: Found, bers: Sequence[float]) -> list[Row]:
    waits = (
        "how losses are repaired (table): of 30 segments out, five are lost, and of those one again. Reno "
        "waits for the timer then, which Karn's rule leaves doubled, and resends a whole window when it comes"
    )
    wide = speed_up(found, WIDE, 5e-5).mean, fall(found, WIDE, SPEC).mean
    stalls = (
        "the timer, where the tail of a burst is lost, and the receiver's window of 30, which a hole closes: "
        f"with 60 it is {wide[0]:.1f} times and {wide[1]:+.0f} % (table)"
    )
    moved_by = stalls if repair is RACK else waits
    ratios = {ber: speed_up(found, repair, ber).mean for ber in bers}
    shown = ", ".join(f"{value:.2f} at {ber:g}" for ber, value in ratios.items())
    return [
        ratio(
            f"{repair.name}: SpecTCP over ECN TCP at BER 5e-5",
            5,
            speed_up(found, repair, 5e-5),
            moved_by=moved_by,
        ),
        gain(f"{repair.name}: ECN TCP from 1e-5 to 5e-5", -77, fall(found, repair, ECN)),
        gain(f"{repair.name}: SpecTCP from 1e-5 to 5e-5", -12, fall(found, repair, SPEC), moved_by=moved_by),
        claim(
            f"{repair.name}: SpecTCP carries more, and the more so the higher the BER",
            min(ratios.values()) >= 0.99 and ratios[1e-7] < ratios[1e-5] < ratios[5e-5] < ratios[1.2e-4],
            evidence=f"SpecTCP over ECN TCP: {shown}",
            moved_by=moved_by,
        ),
    ]


def repair_table(found: Found) -> Table:
    repairs = list(dict.fromkeys(repair for repair, _ in found))
    rows: list[list[str | float | Estimate | None]] = [
        [
            repair.name,
            *(estimate(goodput(found, repair, 5e-5, term)) for term in NAMES),
            speed_up(found, repair, 5e-5),
            *(fall(found, repair, term) for term in NAMES),
            ratio_of(received(found, repair, 5e-5, SPEC), received(found, repair, 5e-5, ECN)),
            gain_of(received(found, repair, 5e-5, SPEC), received(found, repair, 1e-5, SPEC)),
        ]
        for repair in repairs
    ]
    return Table(
        "By how losses are repaired: goodput at BER 5e-5 in kbit/s, and the fall from 1e-5 in %",
        [
            "repair",
            *NAMES.values(),
            "ratio",
            *(f"fall of {name}" for name in NAMES.values()),
            "ratio, duplicates counted",
            "fall of SpecTCP, duplicates counted",
        ],
        rows,
    )


def sweep_plot(
    found: Found,
    bers: Sequence[float],
    y_label: str,
    caption: str,
    value: Callable[[Runs, str], list[float]],
    payload_share: float,
) -> SweepPlot:
    """`payload_share`: 1 to count no headers, 0 to count them."""
    scale = RATE_BPS / 1e3 if payload_share else 1.0

    def bound(ber: float) -> float:
        packet = packet_bytes(ber)
        return scale * (1 - packet_error_rate(ber, packet)) * (1 - payload_share * HEADER_BYTES / packet)

    return SweepPlot(
        "bit error rate",
        y_label,
        {
            f"{name}, {repair.name}": {
                ber: value(found[repair, ber], repair.scheme(term, packet_bytes(ber))) for ber in bers
            }
            for repair in (NS2, RACK)
            for term, name in NAMES.items()
        },
        caption=f"{caption}; above BER 5e-5 packets are smaller",
        bounds={"what the link delivers": {ber: bound(ber) for ber in bers}},
        log_x=True,
    )
