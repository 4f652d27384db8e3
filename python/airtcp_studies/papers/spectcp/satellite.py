"""S4: SpecTCP and TCP with ECN over a satellite with bit errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from airtcp.facts.stats import Estimate, estimate
from airtcp_studies.frame import (
    Case,
    Context,
    Result,
    Row,
    Runs,
    SweepPlot,
    Table,
    Tried,
    claim,
    experiment,
    gain,
    gain_of,
    info,
    ratio,
    ratio_of,
)
from airtcp_studies.frame.rows import TOLERANCES
from airtcp_studies.model.formulas import packet_error_rate
from airtcp_studies.papers.spectcp.red import HEADER_BYTES, RECOMMENDED
from airtcp_studies.papers.spectcp.settings import (
    ECN,
    NAMES,
    NS2,
    SATELLITE_PARAMETERS,
    SPEC,
    TIMER,
    TRIED,
    Setting,
)

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


BERS = (1e-7, 1e-6, 5e-6, 1e-5, 2e-5, 4e-5, 5e-5, 8e-5, 1.2e-4)
DECISIVE = (1e-7, 1e-5, 5e-5, 1.2e-4)
RATE_BPS = 64e3


def packet_bytes(ber: float) -> int:
    return 1000 if ber < 5e-5 else 512


def satellite(ber: float, setting: Setting, *, quick: bool, seeds: int | None = None) -> Case:
    """Runs are longer with many errors (§IV: simulation time as a function of the BER)."""
    duration = 100 if quick else 2000 if ber < 2e-5 else 4000
    schemes = [setting.scheme(term, packet_bytes(ber)) for term in NAMES]
    sets = {"duration": f"{duration}s", "link.satellite.loss.ber": ber, **setting.sets}
    return Case(SATELLITE, schemes, sets, seeds)


@experiment("S4", where="Figs 8 and 9", title="Goodput over a satellite", parameters=SATELLITE_PARAMETERS)
def s4(ctx: Context) -> Result:
    """One transfer between LANs of 10 Mbit/s over 64 kbit/s and 280 ms with RED that marks; receiver's window
    and initial ssthresh 30 segments; packets of 1000 B, and of 512 B from BER 5e-5."""
    bers = ctx.pick(BERS, quick=DECISIVE)
    found = ctx.sweep(
        {(setting, ber): satellite(ber, setting, quick=ctx.quick) for setting in TRIED for ber in bers}
    )
    tried = {setting: ctx.pick(others, quick=others[:1]) for setting, others in TRIED.items()}
    found |= ctx.sweep(
        {
            (other, ber): satellite(ber, other, quick=ctx.quick, seeds=5)
            for others in tried.values()
            for other in others
            if other not in TRIED
            for ber in DECISIVE
        }
    )
    rows = [row for setting, others in tried.items() for row in rows_of(found, setting, others)]
    rows += rows_of_text(found, tried[NS2])
    delivered = 100 * ((1 - packet_error_rate(5e-5, 512)) / (1 - packet_error_rate(1e-5, 1000)) - 1)
    rows.append(
        info(
            "what the link delivers at 5e-5, against 1e-5",
            delivered,
            "%",
            note="(1 − PER) of 512 B packets over that of 1000 B packets: the 12 % by which the paper's "
            "SpecTCP falls, which keeps the link busy",
        )
    )
    figures = {
        "fig8": sweep_plot(found, bers, "goodput [kbit/s]", "Goodput (the paper's Fig 8)", RATE_BPS / 1e3),
        "fig9": sweep_plot(
            found, bers, "throughput / 64 kbit/s", "Normalized throughput (the paper's Fig 9)", 1.0
        ),
    }
    return Result(rows=rows, figures=figures, tables=(goodput_table(found),))


Found = dict[tuple[Setting, float], Runs]


def goodput(found: Found, setting: Setting, ber: float, term: str) -> list[float]:
    """Returns what arrives, as a share of the link's rate."""
    runs, packet = found[setting, ber], packet_bytes(ber)
    scheme = setting.scheme(term, packet)
    if setting.counts_repeats:
        return [bps / RATE_BPS for bps in runs.total(scheme, lambda flow: flow["throughput_bps"])]
    return [bps * packet / (packet - HEADER_BYTES) / RATE_BPS for bps in runs.goodput(scheme)]


def speed_up(found: Found, setting: Setting, ber: float) -> Estimate:
    return ratio_of(goodput(found, setting, ber, SPEC), goodput(found, setting, ber, ECN))


def fall(found: Found, setting: Setting, term: str) -> Estimate:
    """Returns the decrease from BER 1e-5 to 5e-5, in percent."""
    return gain_of(goodput(found, setting, 5e-5, term), goodput(found, setting, 1e-5, term))


def rows_of(found: Found, setting: Setting, others: Sequence[Setting]) -> list[Row]:
    def tried(value: Callable[[Setting], Estimate]) -> list[Tried]:
        return [Tried(other.name, value(other)) for other in others]

    holds, evidence = is_more_with_errors(found, setting)
    return [
        ratio(
            f"{setting.name}: SpecTCP over ECN TCP at BER 5e-5",
            5,
            speed_up(found, setting, 5e-5),
            tried=tried(lambda other: speed_up(found, other, 5e-5)),
        ),
        gain(
            f"{setting.name}: ECN TCP from 1e-5 to 5e-5",
            -77,
            fall(found, setting, ECN),
            tried=tried(lambda other: fall(found, other, ECN)),
        ),
        gain(
            f"{setting.name}: SpecTCP from 1e-5 to 5e-5",
            -12,
            fall(found, setting, SPEC),
            tried=tried(lambda other: fall(found, other, SPEC)),
        ),
        claim(
            f"{setting.name}: SpecTCP carries more, and the more so the higher the BER",
            holds,
            evidence=evidence,
            tried=[
                Tried(o.name, holds=h, evidence=e)
                for o in others
                for h, e in (is_more_with_errors(found, o),)
            ],
        ),
    ]


def rows_of_text(found: Found, others: Sequence[Setting]) -> list[Row]:
    """Returns what §IV says without a figure of its own."""
    alike, shown = falls_alike(found, NS2)
    holds, evidence = is_reduced_by_errors(found, NS2)
    return [
        claim(
            f"{NS2.name}: the normalized throughput falls as the goodput does (Fig 9)",
            alike,
            evidence=shown,
            tried=[Tried(o.name, holds=h, evidence=e) for o in others for h, e in (falls_alike(found, o),)],
        ),
        claim(
            f"{NS2.name}: errors reduce cwnd of ECN TCP ever more often, and not that of SpecTCP",
            holds,
            evidence=evidence,
            tried=[
                Tried(o.name, holds=h, evidence=e)
                for o in others
                for h, e in (is_reduced_by_errors(found, o),)
            ],
        ),
    ]


def falls_alike(found: Found, setting: Setting) -> tuple[bool, str]:
    """Compares what the satellite link carries, errors included, with the goodput: from BER 1e-5 to 5e-5."""

    def carried(ber: float, term: str) -> list[float]:
        scheme = setting.scheme(term, packet_bytes(ber))
        return found[setting, ber].link(scheme, lambda link: link["utilisation"], "satellite")

    falls = {
        name: (gain_of(carried(5e-5, term), carried(1e-5, term)).mean, fall(found, setting, term).mean)
        for term, name in NAMES.items()
    }
    shown = ", ".join(f"{name} {link:.0f} and {good:.0f} %" for name, (link, good) in falls.items())
    return all(abs(link - good) <= TOLERANCES["gain"] * abs(good) for link, good in falls.values()), shown


def is_reduced_by_errors(found: Found, setting: Setting) -> tuple[bool, str]:
    """Counts reductions of cwnd in 1000 packets sent."""

    def rate(ber: float, term: str) -> float:
        runs, scheme = found[setting, ber], setting.scheme(term, packet_bytes(ber))
        reductions, sent = (
            sum(runs.total(scheme, of))
            for of in (lambda flow: flow["cwnd_reductions"], lambda flow: flow["data_packets_sent"])
        )
        return 1000 * reductions / max(1.0, sent)

    rates = {name: [rate(ber, term) for ber in DECISIVE] for term, name in NAMES.items()}
    shown = "; ".join(f"{name}: " + ", ".join(f"{each:.1f}" for each in of) for name, of in rates.items())
    ecn, spec = (rates[NAMES[term]] for term in (ECN, SPEC))
    points = ", ".join(f"{ber:g}" for ber in DECISIVE)
    return ecn == sorted(ecn) and max(spec) <= spec[0], f"of 1000 packets, at BER {points}: {shown}"


def is_more_with_errors(found: Found, setting: Setting) -> tuple[bool, str]:
    ratios = {ber: speed_up(found, setting, ber).mean for other, ber in found if other == setting}
    shown = ", ".join(f"{value:.2f} at {ber:g}" for ber, value in sorted(ratios.items()))
    rising = [ratios[ber] for ber in DECISIVE]
    return min(ratios.values()) >= 0.99 and rising == sorted(rising), f"SpecTCP over ECN TCP: {shown}"


def goodput_table(found: Found) -> Table:
    settings = list(dict.fromkeys(setting for setting, _ in found))
    rows: list[list[str | float | Estimate | None]] = [
        [
            f"{TIMER.name}: {setting.name}" if setting in TRIED[TIMER] else setting.name,
            *(
                estimate([RATE_BPS / 1e3 * each for each in goodput(found, setting, 5e-5, term)])
                for term in NAMES
            ),
            speed_up(found, setting, 5e-5),
            *(fall(found, setting, term) for term in NAMES),
        ]
        for setting in settings
    ]
    falls = (f"fall of {name}" for name in NAMES.values())
    return Table(
        "Goodput at BER 5e-5 in kbit/s, and the fall from 1e-5 in %",
        ["", *NAMES.values(), "ratio", *falls],
        rows,
    )


def sweep_plot(found: Found, bers: Sequence[float], y_label: str, caption: str, scale: float) -> SweepPlot:
    def values(setting: Setting, ber: float, term: str) -> list[float]:
        return [scale * share for share in goodput(found, setting, ber, term)]

    return SweepPlot(
        "bit error rate",
        y_label,
        {
            f"{name}, {setting.name}": {ber: values(setting, ber, term) for ber in bers}
            for setting in TRIED
            for term, name in NAMES.items()
        },
        caption=f"{caption}; above BER 5e-5 packets are smaller",
        bounds={
            "what the link delivers": {
                ber: scale * (1 - packet_error_rate(ber, packet_bytes(ber))) for ber in bers
            }
        },
        log_x=True,
    )
