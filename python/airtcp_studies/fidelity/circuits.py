"""The experiments of paper 000 that can run in real time, and CUBIC and Reno beside today's circuits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from airtcp._engine import Scenario
from airtcp_studies.fidelity.circuit_journal import Told
from airtcp_studies.papers.decoupling.features import FEATURES
from airtcp_studies.papers.decoupling.header_first import HEADER_FIRST
from airtcp_studies.papers.decoupling.paths import flow, link
from airtcp_studies.papers.decoupling.shares import GMB_MBIT, QUEUES, RED

DURATION_S = 35.0
WARMUP_S = 5.0
PLAIN = "reno"
CIRCUIT = "reno+decoupling:loss_reports=false:tunnel_queue=50:tunnel_delay=0s"
"""The paper's tunnel queue without loss reports; hosts and control TCPs are today's."""
FIFO = "{ packets = 50 }"

AGGRESSIVE_BER = 2e-6
"""Of the paper's D4, and of D8."""

Value = Callable[[Sequence[Told]], float]
"""Computed from one run of each of a row's settings."""


@dataclass(frozen=True)
class Setting:
    """A setting that both sides run."""

    name: str
    path: str
    """Links and flows."""

    def scenario(self) -> Scenario:
        times = f'duration = "{DURATION_S:g}s"\nwarmup = "{WARMUP_S:g}s"\nprofile = "linux"\n'
        # Every flow has a scheme of its own, so none uses this one.
        return Scenario.parse(f'{times}schemes = ["{PLAIN}"]\n{self.path}')


@dataclass(frozen=True)
class Row:
    """A number, and the paper's value."""

    experiment: str
    what: str
    settings: tuple[Setting, ...]
    value: Value
    paper: str = ""
    form: str = ".2f"


def _two(
    name: str, one: str, other: str, rtt_ms: float = 0.6, queue: str = FIFO, vary: str = "0.4ms"
) -> Setting:
    path = link("10Mbit/s", rtt_ms, queue=queue, acks_vary_by=vary)
    return Setting(name, path + flow("one1", one) + flow("other2", other))


def _lossy(ber: float, rtt_ms: float, scheme: str) -> Setting:
    path = link("10Mbit/s", rtt_ms, queue=FIFO, more=f"loss = {{ ber = {ber:g} }}")
    what = "circuit" if scheme == CIRCUIT else scheme
    return Setting(f"{what}, RTT {rtt_ms:g} ms, BER {ber:g}", path + flow("one1", scheme))


def _among_four(name: str, one: str, others: str) -> Setting:
    path = link("10Mbit/s", 40, queue=RED)
    return Setting(name, path + flow("one1", one) + flow("other2", others, 4))


def _over_other(told: Sequence[Told]) -> float:
    (run,) = told
    return run.goodput_bps["one1"] / run.goodput_bps["other2"]


def _kilobytes(run: Told) -> float:
    return sum(run.goodput_bps.values()) / 8e3


PAIR = _two("two circuits", CIRCUIT, CIRCUIT)
PAIR_CONTROLS = _two("2 control TCPs and 1", f"{CIRCUIT}:controls=2", CIRCUIT)
PAIR_VMSS = _two("VMSS 3000 and 1500", f"{CIRCUIT}:vmss=3000B", CIRCUIT)
HEADERS_FIRST = _two(
    "VMSS 3000 and 1500, header-first queue",
    f"{CIRCUIT}:vmss=3000B",
    CIRCUIT,
    rtt_ms=20,
    queue=HEADER_FIRST,
    vary="1.2ms",
)
GUARANTEED = _among_four("a guaranteed minimum beside 4 TCPs", f"{CIRCUIT}:gmb={GMB_MBIT:.0f}Mbit/s", PLAIN)
SEVERAL = _among_four("4 control TCPs beside 4 circuits", f"{CIRCUIT}:controls=4", CIRCUIT)
LOSSY = {
    (scheme, rtt_ms, ber): _lossy(ber, rtt_ms, scheme)
    for scheme, rtt_ms, ber in (
        (PLAIN, 10, 1e-7),
        (CIRCUIT, 10, 1e-7),
        (PLAIN, 10, 2e-6),
        (CIRCUIT, 10, 2e-6),
        (CIRCUIT, 100, 2e-6),
    )
}


def _gain(ber: float) -> Row:
    return Row(
        "D3",
        f"circuit over Reno, RTT 10 ms, BER {ber:g}",
        (LOSSY[CIRCUIT, 10, ber], LOSSY[PLAIN, 10, ber]),
        lambda told: _kilobytes(told[0]) / _kilobytes(told[1]),
        {1e-7: "0.97", 2e-6: "4.5, over 1998's Reno"}[ber],
    )


def _papers_data_tcp(left_out: Sequence[str], rtt_ms: float) -> Setting:
    """The paper's data TCP, without some of F1, F2 and F3."""
    name = "without " + " ".join(FEATURES[key] for key in left_out) if left_out else "with F1 F2 F3"
    scheme = f"{CIRCUIT}:error_control=paper" + "".join(f":{key}=false" for key in left_out)
    path = link("10Mbit/s", rtt_ms, queue=FIFO, more=f"loss = {{ ber = {AGGRESSIVE_BER:g} }}")
    return Setting(f"data TCP {name}, RTT {rtt_ms:g} ms", path + flow("one1", scheme))


def _features(rtt_ms: float) -> tuple[Row, ...]:
    """D8: what F1, F2 and F3 are worth."""
    everything = _papers_data_tcp((), rtt_ms)

    def gain(left_out: Sequence[str]) -> Row:
        what = "all three over none" if len(left_out) > 1 else f"{FEATURES[left_out[0]]} beside the others"
        return Row(
            "D8",
            f"{what}, RTT {rtt_ms:g} ms [%]",
            (everything, _papers_data_tcp(left_out, rtt_ms)),
            lambda told: 100 * (_kilobytes(told[0]) / _kilobytes(told[1]) - 1),
            form="+.0f",
        )

    level = f"F1, F2 and F3, RTT {rtt_ms:g} ms [KB/s]"
    return (
        Row("D8", level, (everything,), lambda told: _kilobytes(told[0]), form=".0f"),
        *(gain((key,)) for key in FEATURES),
        gain(tuple(FEATURES)),
    )


def _beside_tcps(told: Sequence[Told]) -> float:
    """Returns the stream's rate over its guarantee plus a TCP's share."""
    rates = told[0].throughput_bps
    return rates["one1"] / (GMB_MBIT * 1e6 + rates["other2"] / 4)


PAPERS_ROWS = (
    Row("D1", "two circuits together [KB/s]", (PAIR,), lambda told: _kilobytes(told[0]), "1188", ".0f"),
    Row("D1", "2 control TCPs over 1", (PAIR_CONTROLS,), _over_other, "1.94"),
    Row("D1", "VMSS 3000 over 1500", (PAIR_VMSS,), _over_other, "1.65"),
    Row("D2", "header packets, of the data [%]", (PAIR,), lambda told: told[0].overhead_percent[0], "3.4"),
    Row("D2", "their ACKs, of the data [%]", (PAIR,), lambda told: told[0].overhead_percent[1], "1.7"),
    _gain(1e-7),
    _gain(2e-6),
    Row(
        "D4",
        "circuit, RTT 100 ms, BER 2e-06 [KB/s]",
        (LOSSY[CIRCUIT, 100, 2e-6],),
        lambda told: _kilobytes(told[0]),
        "560",
        ".0f",
    ),
    Row("D5", "data packets that were dropped", (HEADERS_FIRST,), lambda told: told[0].dropped, "0", ".0f"),
    Row("D5", "VMSS 3000 over 1500", (HEADERS_FIRST,), _over_other, "2"),
    Row(
        "D6",
        f"stream with a GMB of {GMB_MBIT:.0f} Mbit/s [Mbit/s]",
        (GUARANTEED,),
        lambda told: told[0].throughput_bps["one1"] / 1e6,
        f"at least {GMB_MBIT:.0f}",
    ),
    Row("D6", "… over its GMB and a TCP's share", (GUARANTEED,), _beside_tcps, "1"),
    Row("D7", "4 control TCPs over 1", (SEVERAL,), lambda told: 4 * _over_other(told), "4"),
    *_features(10),
    *_features(100),
)

REPORTS = {
    "no loss reports": ":loss_reports=false",
    "loss reports": "",
    "loss reports and FEC": ":fec=2",
}
KEPT_RTT_MS = 40


def _kept(control: str, queue: str, reports: str) -> Row:
    def beside(what: str, scheme: str) -> Setting:
        return _two(f"{control} beside {what}, {queue}", control, scheme, KEPT_RTT_MS, QUEUES[queue])

    settings = (
        beside(f"a circuit, {reports}", f"cubic+decoupling{REPORTS[reports]}"),
        beside("itself", control),
    )
    return Row(
        f"{control}, {reports}",
        queue,
        settings,
        lambda told: told[0].goodput_bps["one1"] / told[1].goodput_bps["one1"],
    )


CONTROLS = ("cubic", "reno")
KEPT_ROWS = tuple(
    _kept(control, queue, reports) for control in CONTROLS for queue in QUEUES for reports in REPORTS
)
