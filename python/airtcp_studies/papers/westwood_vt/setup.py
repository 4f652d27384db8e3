"""The paths, schemes and open parameters of paper 004's experiments, and sweeps over error rates."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TypeVar

from airtcp.facts.stats import Estimate
from airtcp_studies.frame import Case, Context, OpenParameter, Runs, SweepPlot, gain_of

K = TypeVar("K", bound=Hashable)

NS2_NEWRENO = "recovery=newreno"
NS2_CLOCK = f"{NS2_NEWRENO}:rtt_min_tick_s=0.01"
VT = "WestwoodVT"
NR = "WestwoodNR"
NEW_JERSEY = "TCP New Jersey"
RENO = "TCP Reno"
NEWRENO = "TCP NewReno"
SCHEMES = {
    VT: f"westwood-vt:{NS2_CLOCK}:filter_type=3",
    NR: f"westwood-nr:{NS2_CLOCK}:filter_type=3",
    NEW_JERSEY: f"new-jersey:{NS2_NEWRENO}",
    RENO: "reno",
    NEWRENO: "newreno",
}
WINDOW = "receive_window=65kB"
SMALL_WINDOW = "receive_window=20kB"


@dataclass(frozen=True)
class Setting:
    """What a variation changes."""

    schemes: Mapping[str, str] = field(default_factory=dict)
    """Other schemes for the paper's names."""
    window: str = WINDOW
    path: tuple[str, str] = ("", "")
    """A part of the scenario, and what replaces it."""
    sets: Mapping[str, object] = field(default_factory=dict)
    """Keys of the scenario."""


def with_key(key: str) -> dict[str, str]:
    """Returns WestwoodVT and WestwoodNR with another value of one of their parameters."""
    return {VT: f"westwood-vt:{NS2_CLOCK}:{key}", NR: f"westwood-nr:{NS2_CLOCK}:{key}"}


FORWARD_ONLY = "reverse = { loss = {} }\n"
SETTINGS = {
    "ns-2's window of 20 packets": Setting(window=SMALL_WINDOW),
    "errors both ways": Setting(path=(FORWARD_ONLY, "")),
    "errors both ways, window of 20": Setting(window=SMALL_WINDOW, path=(FORWARD_ONLY, "")),
    "errors behind the queue": Setting(sets={"link.wireless.loss.before_queue": False}),
    "filter type 1": Setting(with_key("filter_type=1")),
    "a sample a round trip (filter type 9)": Setting(with_key("filter_type=9")),
    "an exact RTTmin": Setting({NR: f"westwood-nr:{NS2_NEWRENO}:filter_type=3"}),
    "RTO floor of 1 s": Setting({name: f"{SCHEMES[name]}:rto.min=1s" for name in (VT, NR, RENO)}),
}
"""What the paper leaves open and may move the gains."""

LOSSES_PERCENT = (0.1, 1.0, 2.0, 3.0, 4.0, 5.0)

QUEUE = '{ discipline = "congestion-warning", packets = 20 }'


def wired(name: str, delay: str) -> str:
    return f'''
[[link]]
name = "{name}"
rate = "100Mbit/s"
delay = "{delay}"
queue = {QUEUE}'''


WIRELESS = f"""
[[link]]
name = "wireless"
rate = "2Mbit/s"
delay = "1ms"
queue = {QUEUE}
loss = {{ before_queue = true }}
reverse = {{ loss = {{}} }}
"""
SIMPLE = f"""
profile = "ns2-2.35"
duration = "200s"{wired("wired-1", "10ms")}{wired("wired-2", "10ms")}
{WIRELESS}"""
COMPLEX = f"""
profile = "ns2-2.35"{wired("access", "10ms")}{wired("backbone", "20ms")}
{WIRELESS}"""


def cross(flows: int) -> str:
    """Adds that many transfers each way between Router 1 and the base station, beside the measured one."""
    each_way = (("forward", "forward"), ("backward", "reverse"))
    return '[[flow]]\nname = "main"\n' + "".join(
        f"""
[[flow]]
name = "{name}"
scheme = "newreno:receive_window=4MB:window_scaling=true"
count = {flows}
direction = "{direction}"
enter = "backbone"
leave = "backbone"
measure = false
"""
        for name, direction in each_way
    )


SIMULATOR = OpenParameter(
    "simulator",
    "profile ns2-2.35: 1000 B of data a packet (1040 B on the wire), RTO floor 0.2 s, tick 10 ms",
    "the paper names none; WestwoodNR's code exists for ns-2 only, whose RTO floor is 0.2 s since October "
    "2004 (the paper is of 2007); packets of ns-2's default size",
)
WINDOW_OF_65 = OpenParameter(
    "window",
    "65 packets, which does not bind",
    "it lets the queues of 20 fill, from which the paper derives α and β; with ns-2's default of 20 Δ cannot "
    "reach α, because only half of such a window fits into the queue (rows without a verdict)",
)
LOSS = OpenParameter(
    "wireless error",
    "packets lost independently, before the queue, on the way to the receiver",
    "“error rate” without a unit is a packet's; ns-2's `lossmodel` stands in front of one direction's queue",
)
FILTER = OpenParameter(
    "filter of WestwoodNR and WestwoodVT",
    "type 3 of the authors' module, τ = 1 s",
    "the paper describes WestwoodNR by MobiCom 2001, whose filter this is; the module has eleven, of which 1 "
    "is preset; τ is the module's",
)
THRESHOLDS = OpenParameter(
    "between α and β",
    "the window stays, and the next three duplicate ACKs are judged",
    "§2: the sender “maintains the current state” and “postpones the decision of cause to the next”. As "
    "every three duplicate ACKs are judged anyway, α changes nothing",
)
RECOVERY = OpenParameter(
    "loss recovery",
    "NewReno's for WestwoodVT, WestwoodNR and New Jersey; Reno's own for TCP Reno, with NewReno beside it",
    "WestwoodNR is on NewReno, and WestwoodVT on it; of New Jersey, and which Reno is meant, nothing is said",
)
RTT_MIN = OpenParameter(
    "RTTmin of WestwoodNR and WestwoodVT",
    "in whole ticks of 10 ms, rounded down",
    "WestwoodNR's code reads it from ns-2's tick counter",
)
WARNING = OpenParameter(
    "TCP New Jersey",
    "built from its abstract and TCP-Jersey's paper; "
    "every packet is marked while the average queue, of weight 0.2, is above 5 packets",
    "of the routers nothing is stated; 5 is RED's minimum threshold in ns-2, the weight lets a warning come "
    "before 20 packets overflow; the other schemes are not ECN-capable and see a DropTail queue of 20. "
    "W1's table has what else was tried",
)
LINK_RATES = OpenParameter(
    "“MB” in Fig. 1", "Mbit/s", "ns-2 writes Mbit/s as Mb; goodputs of 2 MB/s would be 16 Mbit/s"
)


@dataclass(frozen=True)
class Sweep:
    """Schemes over error rates."""

    schemes: Mapping[str, str]
    """The schemes as run, by the paper's name."""
    runs: Mapping[float, Runs]
    """By error rate in percent."""

    def goodput(self, name: str, loss: float) -> list[float]:
        """Returns Mbit/s, one value per seed."""
        return self.runs[loss].goodput(self.schemes[name], "Mbit/s", "main")

    def gain(self, name: str, base: str, loss: float) -> Estimate:
        """Returns the gain in percent."""
        return gain_of(self.goodput(name, loss), self.goodput(base, loss))

    def gains(self, name: str, base: str) -> dict[float, Estimate]:
        return {loss: self.gain(name, base, loss) for loss in self.runs}

    def largest_gain(self, name: str, base: str) -> Estimate:
        return max(self.gains(name, base).values(), key=lambda found: found.mean)

    def queue_losses(self, name: str, loss: float) -> float:
        """Returns the mean number of the scheme's packets lost to queue overflow, per run."""
        scheme = self.schemes[name]
        return fmean(self.runs[loss].total(scheme, lambda flow: flow["losses_congestion"], "main"))

    def plot(self, caption: str, names: Sequence[str]) -> SweepPlot:
        curves = {name: {loss: self.goodput(name, loss) for loss in self.runs} for name in names}
        return SweepPlot("wireless error rate [%]", "goodput [Mbit/s]", curves, caption)


def sweep(
    ctx: Context,
    scenarios: Mapping[K, tuple[str, Setting]],
    names: Sequence[str],
    losses: Sequence[float],
    sets: Mapping[str, object],
    seeds: int | None = None,
) -> dict[K, Sweep]:
    """Returns the sweeps of the schemes called `names` over each scenario with its setting."""
    cases, schemes = {}, {}
    for key, (scenario, setting) in scenarios.items():
        ran = {**SCHEMES, **setting.schemes}
        schemes[key] = {name: f"{ran[name]}:{setting.window}" for name in names}
        for loss in losses:
            keys = {**sets, "link.wireless.loss.packet": loss / 100, **setting.sets}
            cases[key, loss] = Case(scenario.replace(*setting.path), list(schemes[key].values()), keys, seeds)
    found = ctx.sweep(cases)
    return {key: Sweep(schemes[key], {loss: found[key, loss] for loss in losses}) for key in scenarios}
