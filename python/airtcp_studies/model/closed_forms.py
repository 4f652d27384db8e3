"""The papers' closed forms beside short runs of the simulator: what `airtcp model` prints."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from airtcp._engine import Scenario
from airtcp.facts.records import Run
from airtcp.facts.series import series_of
from airtcp.facts.stats import Estimate, estimate
from airtcp.facts.summary import measured
from airtcp_studies.frame.context import on_time
from airtcp_studies.model.formulas import (
    decoupling_gain,
    decoupling_gain_at,
    goodput_bound,
    maximum_allowable_throughput,
    maximum_allowable_window,
    packet_error_rate,
    packet_error_rate_first_order,
    red_maximum_average_queue,
)
from airtcp_studies.model.tc_red import TcRed

CYCLES = 200
"""Loss cycles per run."""
LEAST_CYCLES = 5
RTT_S = 0.1
"""Used if the result does not depend on the RTT."""
PACKETS = 5e5
"""Limit on a run's packets, unless the minimum of cycles needs more."""


@dataclass(frozen=True)
class Value:
    """One result: of the formula, and of runs."""

    name: str
    unit: str
    source: str
    """Source of the formula."""
    closed_form: float
    simulated: Mapping[str, Estimate] | None = None
    """By kind of run; None if there is nothing to simulate or it was not wanted."""


@dataclass(frozen=True)
class Quoted:
    """A number in the paper, and the result of the paper's formula for its inputs."""

    inputs: str
    name: str
    paper: float
    closed_form: float
    remark: str = ""


@dataclass(frozen=True)
class Answer:
    """The result of one command."""

    inputs: Mapping[str, str]
    values: Sequence[Value]
    quoted: Sequence[Quoted]
    notes: Sequence[str] = ()
    command: str = ""
    """What sets it on Linux."""


@dataclass(frozen=True)
class Measured:
    """The result of one run."""

    window: float
    """Mean cwnd in packets just before a reduction."""
    throughput: float
    """Bytes per second that arrived, headers included."""


@dataclass(frozen=True)
class Lossy:
    """A TCP alone on a wide path that loses a share of the packets: the assumptions of §3 of paper 000."""

    error_rate: float
    packet_bytes: int
    rtt_s: float
    seeds: int

    @property
    def cycles(self) -> float:
        return min(CYCLES, max(LEAST_CYCLES, PACKETS * self.error_rate))

    @property
    def is_feasible(self) -> bool:
        return self.cycles / self.error_rate <= 4 * PACKETS

    @property
    def notes(self) -> tuple[str, ...]:
        """Says why nothing was simulated, if something should have been."""
        if self.is_feasible or not self.seeds:
            return ()
        return (
            f"Not simulated: {self.cycles:g} losses would take {self.cycles / self.error_rate:.1g} packets.",
        )

    def simulated(self, *, series: bool = False) -> dict[str, list[Measured]]:
        """Simulates losses evenly spaced, as in the formula, and at random. With `series`, also measures
        the window."""
        if not (self.seeds and self.is_feasible):
            return {}
        period = max(2, round(1 / self.error_rate))
        numbers = [period * count for count in range(1, 3 * CYCLES + 1)]
        return {
            "evenly spaced losses": [self._run(f"packets = {json.dumps(numbers)}", 1, series)],
            "random losses": [
                self._run(f"packet = {self.error_rate!r}", seed, series) for seed in range(1, self.seeds + 1)
            ],
        }

    def _run(self, loss: str, seed: int, series: bool) -> Measured:
        window = maximum_allowable_window(self.error_rate)
        duration_s = 1.2 * self.cycles * (window / 2 + 1) * self.rtt_s
        text = f"""
            profile = "rfc"
            duration = "{duration_s}s"
            warmup = "{duration_s / 10}s"
            [[link]]
            name = "lossy"
            rate = "10Gbit/s"
            delay = "{self.rtt_s / 2}s"
            loss = {{ {loss} }}
            queue = {{ packets = 1000000 }}
            reverse = {{ loss = {{}} }}
        """
        scheme = f"sack:timestamps=false:ack_every=1:byte_counting_limit=1:packet_size={self.packet_bytes}"
        record = on_time(Scenario.parse(text)).run(scheme, seed, series_interval_s=0.0 if series else None)
        run: Run = json.loads(record.to_json())
        peak = math.nan
        if series:
            flows = series_of(record, run).flows.filter(pl.col("time_s") > duration_s / 10)
            falls = flows.filter(pl.col("cwnd_bytes") > pl.col("cwnd_bytes").shift(-1))
            payload = max(1, self.packet_bytes - 40)
            peak = (falls["cwnd_bytes"] / payload).mean() or math.nan  # type: ignore[assignment]
        return Measured(peak, sum(flow["throughput_bps"] for flow in measured(run)) / 8)


def windows(ber: float | None, error_rate: float | None, packet_bytes: int, seeds: int) -> Answer:
    """Returns W for packets of this size or this packet error rate; `seeds` 0 simulates nothing."""
    rate, inputs, values = _error_rate(ber, error_rate, packet_bytes)
    window = maximum_allowable_window(rate)
    lossy = Lossy(rate, packet_bytes, RTT_S, seeds)
    runs = lossy.simulated(series=True)
    found = {name: estimate([run.window for run in each]) for name, each in runs.items()} or None
    values.append(Value("W", "packets", "3/8·W² + 3/4·W = 1/PER (paper 000, eq. 2)", window, found))
    quoted = (
        Quoted("PER 0.14", "W", 4, maximum_allowable_window(0.14), "§3: 'about 4'"),
        Quoted("BER 3e-5, 52 B", "W", 14, _window_at(3e-5, 52), "§7"),
        Quoted("BER 2e-6, 52 B", "W", 56, _window_at(2e-6, 52), "§8.3"),
    )
    return Answer(inputs, values, quoted, lossy.notes)


def throughput(
    ber: float | None,
    error_rate: float | None,
    packet_bytes: int,
    window_bytes: int | None,
    header_bytes: int,
    rtt_s: float,
    seeds: int,
) -> Answer:
    """Returns MAT and the goodput bound; `window_bytes` is the size of the packets whose errors shrink the
    window."""
    judged = window_bytes or packet_bytes
    rate, inputs, values = _error_rate(ber, error_rate, judged)
    inputs |= {"packets": f"{packet_bytes} B", "RTT": f"{1e3 * rtt_s:g} ms", "headers": f"{header_bytes} B"}
    window = maximum_allowable_window(rate)
    mat = maximum_allowable_throughput(window, packet_bytes, rtt_s)
    own_rate = packet_error_rate_first_order(ber, packet_bytes) if ber is not None else rate
    lossy = Lossy(rate, packet_bytes, rtt_s, seeds)
    found = {
        name: estimate([run.throughput * 8e-3 for run in each]) for name, each in lossy.simulated().items()
    }
    values += [
        Value("W", "packets", "3/8·W² + 3/4·W = 1/PER (paper 000, eq. 2)", window),
        Value("MAT", "kbit/s", "(3/4·W + 3/2)·PS/RTT (paper 000, eq. 3)", mat * 8e-3, found or None),
        Value(
            "goodput bound",
            "kbit/s",
            "MAT·(1 − PER)·(1 − header/PS) (paper 000, §8.3)",
            goodput_bound(mat, min(1.0, own_rate), packet_bytes, header_bytes) * 8e-3,
        ),
    ]
    return Answer(inputs, values, QUOTED_THROUGHPUTS, lossy.notes)


QUOTED_THROUGHPUTS = (
    Quoted(
        "W 56, 1500 B, 100 ms",
        "MAT in B/s",
        652_500,
        maximum_allowable_throughput(56, 1500, 0.1),
        "§8.3",
    ),
    Quoted(
        "the same, BER 2e-6, 52 B of headers",
        "goodput bound in B/s",
        615_000,
        goodput_bound(652_500, 0.024, 1500, 52),
        "§8.3",
    ),
    Quoted(
        "W 4, 576 B, 540 ms",
        "MAT in kbit/s",
        26,
        maximum_allowable_throughput(4, 576, 0.54) * 8e-3,
        "§3, eq. 4: does not follow from eq. 3; it is 3/4·W·PS/RTT",
    ),
    Quoted(
        "W 14, 576 B, 540 ms",
        "MAT in kbit/s",
        119,
        maximum_allowable_throughput(14, 576, 0.54) * 8e-3,
        "§7: does not follow from eq. 3; it is W·PS/RTT",
    ),
    Quoted(
        "these two",
        "their ratio",
        4.57,
        maximum_allowable_throughput(14, 576, 0.54) / maximum_allowable_throughput(4, 576, 0.54),
        "§7",
    ),
)


def gain(ber: float, mtu_bytes: int, header_packet_bytes: int, rtt_s: float, seeds: int) -> Answer:
    """Returns the gain from decoupling; runs lose packets of the MTU at the error rate of headers, or of
    whole packets."""
    inputs = {
        "BER": f"{ber:g}",
        "MTU": f"{mtu_bytes} B",
        "header packets": f"{header_packet_bytes} B",
        "RTT": f"{1e3 * rtt_s:g} ms",
    }
    sizes = (header_packet_bytes, mtu_bytes)
    cases = [Lossy(packet_error_rate_first_order(ber, size), mtu_bytes, rtt_s, seeds) for size in sizes]
    few, many = (case.simulated() for case in cases)
    found = {
        name: estimate([a.throughput / b.throughput for a, b in zip(few[name], many[name], strict=True)])
        for name in few.keys() & many.keys()
    }
    values = [
        Value("gain", "", "√(MTU/HP_Sz) (paper 000, §7)", decoupling_gain(mtu_bytes, header_packet_bytes)),
        Value(
            "gain at this BER",
            "",
            "eqs 1 to 3 of paper 000, for both sizes",
            decoupling_gain_at(ber, mtu_bytes, header_packet_bytes),
            dict(sorted(found.items())) or None,
        ),
    ]
    quoted = (
        Quoted(
            "MTU 1500 B, HP_Sz 40 B",
            "gain",
            4.5,
            decoupling_gain(1500, 40),
            "introduction: 'about 350 %' better, which is what the experiments gave",
        ),
    )
    notes = (*cases[0].notes, *cases[1].notes)
    return Answer(inputs, values, quoted, tuple(dict.fromkeys(notes)))


@dataclass(frozen=True)
class RedInputs:
    """A queue, in packets, and the flows that share it."""

    min_threshold: float
    max_threshold: float
    max_probability: float
    weight: float
    flows: int
    window: int
    """Window of each flow, in packets."""
    rtt_s: float
    """Round trip without queueing."""
    rate_bps: float
    probability: float | None
    """Probability with which packets are marked; None for RED's at the maximum itself."""
    seeds: int


def red_queue(given: RedInputs) -> Answer:
    """Returns Q̄max, and the largest average queue in a run of 20 s from the start of all flows."""
    red = (given.min_threshold, given.max_threshold, given.max_probability, given.weight)
    maximum = red_maximum_average_queue(*red, [float(given.window)] * given.flows, given.probability)
    share = (maximum - given.min_threshold) / (given.max_threshold - given.min_threshold)
    marking = given.max_probability * share if given.probability is None else given.probability
    found = [_largest_average(given, seed) for seed in range(1, given.seeds + 1)]
    values = [
        Value("p", "", "RED's at Q̄max (eq. 2)" if given.probability is None else "given", marking),
        Value("λᵢ", "marks/s", "p·Wᵢ/rᵢ (paper 002, §III-B)", marking * given.window / given.rtt_s),
        Value("βᵢ", "packets", "1/(λᵢ·rᵢ) (paper 002, eq. 4)", 1 / (marking * given.window)),
        Value(
            "Q̄max",
            "packets",
            "minth + Σ(βᵢ + w) (paper 002, eq. 8)",
            maximum,
            {"simulated": estimate(found)} if found else None,
        ),
    ]
    low, high = max(round(given.min_threshold), 1), math.ceil(maximum)
    shortest = TcRed(low, max(high, low + 1), given.max_probability, given.weight, given.rate_bps)
    notes = [
        f"The shortest queue that loses nothing has a maximum threshold of {shortest.high} packets. On "
        "Linux, for the device DEV whose own rate, or whose shaper's, is the bottleneck (beyond the maximum, "
        "Linux marks every packet and drops none):",
    ]
    if maximum > given.max_threshold:
        notes.insert(0, "Above the maximum threshold, packets are lost before the first mark.")
    inputs = {
        "minth/maxth/maxp": f"{given.min_threshold:g}/{given.max_threshold:g}/{given.max_probability:g}",
        "w": f"{given.weight:g}",
        "flows": f"{given.flows}",
        "W": f"{given.window} packets",
        "RTT": f"{1e3 * given.rtt_s:g} ms",
        "rate": f"{given.rate_bps / 1e6:g} Mbit/s",
    }
    return Answer(inputs, values, QUOTED_QUEUES, notes, shortest.line())


QUOTED_QUEUES = tuple(
    Quoted(
        f"{low:g}/{high:g}/{probability:g}",
        "Q̄max",
        paper,
        red_maximum_average_queue(low, high, probability, 0.002, [27.0, 27.0]),
        f"Table II, for two flows of 27 packets, which its Table III implies; its simulation: {simulated:g}",
    )
    for low, high, probability, paper, simulated in (
        (5, 15, 0.1, 7.3, 7.6),
        (5, 15, 0.2, 6.7, 7.1),
        (7, 21, 0.1, 9.6, 9.9),
    )
)


def _largest_average(given: RedInputs, seed: int) -> float:
    text = f"""
        profile = "ns2-2.1b6"
        duration = "20s"
        [[link]]
        name = "access"
        rate = "{4 * given.rate_bps}bit/s"
        delay = "0ms"
        [[link]]
        name = "bottleneck"
        rate = "{given.rate_bps}bit/s"
        delay = "{given.rtt_s / 2}s"
        queue = {{ discipline = "red", packets = 10000, ecn = true, min_threshold = {given.min_threshold},
            max_threshold = {given.max_threshold}, max_probability = {given.max_probability},
            weight = {given.weight}, gentle = false }}
        reverse = {{ queue = {{ packets = 10000 }} }}
        [[flow]]
        name = "source"
        count = {given.flows}
    """
    scheme = f"reno:ecn=true:receive_window={given.window * 960}B:initial_ssthresh={given.window}"
    run: Run = json.loads(on_time(Scenario.parse(text.replace(",\n", ","))).run(scheme, seed).to_json())
    return max(link["queue_average_max"] or 0.0 for link in run["links"])


def _error_rate(
    ber: float | None, error_rate: float | None, packet_bytes: int
) -> tuple[float, dict[str, str], list[Value]]:
    """Returns the effective packet error rate, the inputs, and its values."""
    if error_rate is not None or ber is None:
        rate = error_rate or 0.0
        return rate, {"PER": f"{rate:g}"}, []
    first_order = packet_error_rate_first_order(ber, packet_bytes)
    exact = Value("PER, exact", "", "1 − (1 − BER)^(8·PS)", packet_error_rate(ber, packet_bytes))
    inputs = {"BER": f"{ber:g}", "packets in error": f"{packet_bytes} B"}
    return first_order, inputs, [Value("PER", "", "BER·PS·8 (paper 000, eq. 1)", first_order), exact]


def _window_at(ber: float, packet_bytes: int) -> float:
    return maximum_allowable_window(packet_error_rate_first_order(ber, packet_bytes))
