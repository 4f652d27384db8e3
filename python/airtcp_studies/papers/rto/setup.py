"""The links, senders and open parameters of paper 003's experiments, and what is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from airtcp.facts.stats import estimate
from airtcp_studies.frame import Case, Context, OpenParameter, Runs, SweepPlot

PACKET_BYTES = {"A": 1500, "B": 500}

MEAN_S = 1.264
"""Mean of the synthetic trace A: calibrated to 27.0 kbit/s, as the open parameters say."""

TRACE_A_LINK = f"""
# Each packet takes the next round trip of the trace, whatever else is under way.
[[link]]
name = "air"
rate = "1Gbit/s"
queue = {{ packets = 10000 }}

[link.jitter]
distribution = "correlated"
mean = "{MEAN_S}s"
deviation = "{MEAN_S / 2}s"
autocorrelation = 0.42

[link.reverse]
jitter = {{ distribution = "constant", mean = "0ms" }}
"""

TRACE_B_LINK = """
# First come, first served; a packet's service time is its scheduling delay and the fixed delay of its ACK.
[[link]]
name = "air"
channel = { ack_delay = "100ms" }
queue = { packets = 10000 }

[link.reverse]
rate = "1Gbit/s"
delay = "0ms"
"""

CELL_LINK = """
# The same cell in the time of the run: the next packet is served while the ACK is under way.
[[link]]
name = "air"
channel = {}
queue = { packets = 10000 }

[link.reverse]
rate = "1Gbit/s"
delay = "100ms"
"""

TRANSFER = """
[[flow]]
name = "file"
traffic = { kind = "bytes", size = "1MB" }
"""

LINKS = {"A": TRACE_A_LINK, "B": TRACE_B_LINK}
DURATION = "1200s"

STACK = (
    "timestamps=false:sack=false:limited_transmit=false:ack_every=1:initial_window=1:byte_counting_limit=1:"
    "receive_window=17520B:rto.timing=one-at-a-time:rto.timers=segment:rto.initial=3s:rto.min=0ms"
)

LOSSES = (0.0, 0.05, 0.1)

PARAMETERS = (
    OpenParameter(
        "congestion control",
        "Reno, without NewReno, SACK, limited transmit and timestamps; initial window 1; every packet "
        "acknowledged",
        "“all standard congestion control”: the paper describes duplicate ACKs that halve the window and "
        "timeouts that set it to 1, and nothing newer; it acknowledges and times one packet at a time. "
        "Not chosen blindly: trial runs with NewReno had shown a smaller gain in R1",
    ),
    OpenParameter(
        "retransmission timers",
        "one for each packet, set as it is sent",
        "§II and §III: the RTO is for “the next packets sent”, following packets “also timeout”, and GBN "
        "“resets timeout periods”; with RFC 6298's single timer all this has no meaning",
    ),
    OpenParameter(
        "go-back-N",
        "all outstanding packets at once, while cwnd is 1",
        "§III: the sender “resets timeout periods and resends all outstanding packets”, and all else remains "
        "unchanged. The scheme `gbn` resends them in slow start, as RFC 5681 §3.1 asks; so does the proxy in "
        "the field",
    ),
    OpenParameter("RTO floor", "none", "eq. (3) has none"),
    OpenParameter("initial RTO", "3 s", "RFC 2988, in force at the time"),
    OpenParameter(
        "receiver's window",
        "17 520 bytes",
        "what terminals had then: Windows XP's default; chosen after R2 and R3 had been seen with 64 kB",
    ),
)

TRACE_A_PARAMETERS = (
    OpenParameter(
        "trace A",
        "SYNTHETIC: log-normal, lag-1 autocorrelation 0.42 from packet to packet",
        "the measured trace is not published; 0.42 is the paper's. A measured one is read by "
        '`distribution = "series"` from what ping prints',
    ),
    OpenParameter(
        "its mean",
        f"{MEAN_S} s",
        "calibrated to the 27.0 kbit/s that the paper quotes at m = 4 without loss; nothing else is",
    ),
    OpenParameter(
        "its standard deviation",
        "half of the mean",
        "“highly variable”, without a figure: between the 0.27 of paper 001's Table I, for a terminal at "
        "rest, and the 1 of an exponential",
    ),
)

TRACE_B_PARAMETERS = (
    OpenParameter(
        "cell",
        "the defaults of `channel`: 8 users on foot, 707 m from a base station of 1 km, K = 3 dB, …",
        "a CDMA2000 1xEV-DO sector, of which the paper speaks; each key's documentation has its reason",
    ),
    OpenParameter(
        "ACK delay",
        "100 ms, part of the service time",
        "a 3G uplink without load; the paper says that it is fixed, not what it is, and that “the sum of the "
        "scheduling delay and a fixed ACK delay on the uplink is treated as the service time for a packet”",
    ),
    OpenParameter("queue at the base station", "never full", "the only losses are those of P_L"),
)


Policy = Literal["sr", "gbn", "gbn in slow start"]
"""What a timeout resends: one packet, all that are outstanding at once, or these as slow start lets them."""

POLICIES: dict[Policy, str] = {
    "sr": "+sr",
    "gbn": ":timeout_policy=go-back-n-at-once",
    "gbn in slow start": "+gbn",
}


@dataclass(frozen=True)
class Method:
    """How a sender handles its timer: the factor m, and what a timeout resends."""

    factor: float = 4
    policy: Policy = "sr"
    changes: str = ""
    """Further keys of the stack, or terms of the scheme."""

    def scheme(self, trace: str) -> str:
        stack = f"packet_size={PACKET_BYTES[trace]}:{STACK}:recovery=reno"
        return f"reno:{stack}+rto-m:m={self.factor:g}{POLICIES[self.policy]}{self.changes}"


@dataclass(frozen=True)
class Setting:
    """What a variation changes."""

    changes: str = ""
    """Keys of the stack."""
    keys: Mapping[str, object] = field(default_factory=dict)
    """Keys of the link."""
    link: str = ""
    """Another link."""


def case(
    ctx: Context,
    trace: str,
    methods: Iterable[Method],
    loss: float = 0.0,
    setting: Setting | None = None,
    seeds: int | None = None,
) -> Case:
    """Transfers over a trace; `loss` applies to data packets."""
    setting = setting or Setting()
    sets = {
        "duration": ctx.pick(DURATION, quick="60s"),
        "flow.file.traffic.size": ctx.pick("1MB", quick="50kB"),
        "link.air.loss.packet": loss,
        "link.air.reverse.loss": "{}",
    }
    keys = {f"link.air.{key}": value for key, value in setting.keys.items()}
    link = setting.link or LINKS[trace]
    schemes = [replace(method, changes=method.changes + setting.changes).scheme(trace) for method in methods]
    return Case(f'profile = "rfc"\n{link}\n{TRANSFER}', schemes, sets | keys, seeds)


Measure = Callable[[Runs, str], list[float]]
Varied = dict[str, dict[float, list[list[float]]]]
"""By setting and loss: for each method, one value per seed."""


@dataclass(frozen=True)
class Variations:
    """Runs of the same methods under several settings."""

    found: Mapping[tuple[str, float], tuple[Sequence[str], Runs]]
    """By setting and loss: a scheme for each method, and their runs."""

    def of(self, measure: Measure) -> Varied:
        values: Varied = {}
        for (name, loss), (schemes, runs) in self.found.items():
            values.setdefault(name, {})[loss] = [measure(runs, scheme) for scheme in schemes]
        return values


def vary(
    ctx: Context,
    trace: str,
    settings: Mapping[str, Setting],
    methods: Sequence[Method],
    losses: Sequence[float],
    seeds: int,
) -> Variations:
    """Runs the methods under each setting."""
    cases = {
        (name, loss): case(ctx, trace, methods, loss, setting, ctx.pick(seeds, quick=1))
        for name, setting in settings.items()
        for loss in losses
    }
    found = ctx.sweep(cases)
    return Variations({key: (of.schemes, found[key]) for key, of in cases.items()})


def throughput(runs: Runs, scheme: str) -> list[float]:
    """Returns kbit/s, one value per seed: the file over its transfer time, or as far as it came."""
    found = []
    for run in runs.of(scheme):
        (flow,) = runs.flows(run)
        seconds = (flow["completion_times_s"] or [run["duration_s"]])[0]
        found.append(flow["bytes_received"] * 8e-3 / seconds)
    return found


Curves = dict[float, dict[float, list[float]]]
"""By loss and m: one value per seed."""


def sweep_factors(ctx: Context, trace: str, factors: Sequence[float]) -> tuple[Curves, Curves]:
    """Returns throughput in kbit/s and timeouts under selective repeat."""
    methods = {factor: Method(factor).scheme(trace) for factor in factors}
    found = ctx.sweep({loss: case(ctx, trace, map(Method, factors), loss) for loss in LOSSES})
    rates = {loss: {m: throughput(runs, s) for m, s in methods.items()} for loss, runs in found.items()}
    timeouts = {loss: {m: timeouts_of(runs, s) for m, s in methods.items()} for loss, runs in found.items()}
    return rates, timeouts


def timeouts_of(runs: Runs, scheme: str) -> list[float]:
    return runs.total(scheme, lambda flow: flow["timeouts"])


def plot(rates: Curves, trace: str, quoted: Mapping[float, float]) -> SweepPlot:
    names = {loss: f"P_L = {loss:.0%}" for loss in rates}
    return SweepPlot(
        "factor m",
        "throughput [kbit/s]",
        {names[loss]: curve for loss, curve in rates.items()},
        caption=f"TCP throughput against the factor m, {trace}",
        quoted={names[0.0]: quoted} if quoted else {},
    )


def mean(values: Sequence[float]) -> float:
    return estimate(values).mean


def best(curve: Mapping[float, Sequence[float]]) -> float:
    """Returns the factor with the highest throughput."""
    return max(curve, key=lambda factor: mean(curve[factor]))


def span(curve: Mapping[float, Sequence[float]], low: float, high: float) -> list[float]:
    """Returns the mean throughputs at the factors from `low` to `high`."""
    return [mean(values) for factor, values in curve.items() if low <= factor <= high]


def behind_a_wire(scenario: str) -> str:
    wired = '[[link]]\nname = "wired"\nrate = "100Mbit/s"\ndelay = "10ms"\n'
    return scenario.replace("[[link]]", f"{wired}\n[[link]]", 1)
