"""The upper bounds of §8 of paper 000, and how far from them a goodput is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from airtcp_studies.frame import Runs
from airtcp_studies.frame.rows import TOLERANCES
from airtcp_studies.model.formulas import (
    goodput_bound,
    maximum_allowable_throughput,
    maximum_allowable_window,
    packet_error_rate_first_order,
)
from airtcp_studies.papers.decoupling.paths import HEADER_BYTES, MTU_BYTES

LINK_KBPS = 1250.0
"""10 Mbit/s in KB/s."""
PAYLOAD = (MTU_BYTES - HEADER_BYTES) / MTU_BYTES


def upper_bound(ber: float) -> float:
    """§8.2: the link's payload rate less bit errors, in KB/s."""
    return LINK_KBPS * PAYLOAD * (1 - ber * 8 * MTU_BYTES)


def bound_over_rtt(rtt_ms: float) -> float:
    """§8.3: eq (3) less bit errors and headers, and at most what the link carries; in KB/s."""
    window = maximum_allowable_window(packet_error_rate_first_order(2e-6, HEADER_BYTES))
    most = maximum_allowable_throughput(window, MTU_BYTES, rtt_ms * 1e-3)
    loss = packet_error_rate_first_order(2e-6, MTU_BYTES)
    return min(upper_bound(2e-6), goodput_bound(most, loss, MTU_BYTES, HEADER_BYTES) * 1e-3)


class Near(NamedTuple):
    """Decoupling's goodput as a share of the bound, by RTT in ms."""

    shares: Mapping[float, float]

    @property
    def holds(self) -> bool:
        return all(1 - TOLERANCES["absolute"] <= share <= 1 for share in self.shares.values())

    @property
    def evidence(self) -> str:
        return ", ".join(f"{rtt:g} ms: {100 * share:.0f} %" for rtt, share in self.shares.items())


def near_bound(found: Mapping[float, list[float]]) -> Near:
    return Near({rtt: fmean(values) / bound_over_rtt(rtt) for rtt, values in found.items()})


def nearest_to_bound(found: Sequence[tuple[float, Mapping[str, list[float]]]]) -> str:
    share, name, ber = max(
        (fmean(of) / upper_bound(ber), name, ber) for ber, each in found for name, of in each.items()
    )
    return f"nearest is {name} at {ber:g}, with {100 * share:.1f} % of it"


class Gap(NamedTuple):
    """What decoupling lacks to the upper bound at 20e-7, in KB/s."""

    whole: float
    repeated: float
    """What its unnecessary retransmissions take."""
    headers: float
    """What its header packets take."""

    @property
    def is_cause(self) -> bool:
        return self.repeated > 0.5 * self.whole

    @property
    def evidence(self) -> str:
        return (
            f"of {self.whole:.0f} KB/s, unnecessary repetitions take {self.repeated:.0f} and header packets "
            f"{self.headers:.0f}"
        )


def gap(runs: Runs, scheme: str) -> Gap:
    of = runs.of(scheme)
    seconds = sum(run["duration_s"] - run["warmup_s"] for run in of)
    repeats = sum(flow["retransmissions_spurious"] for run in of for flow in run["flows"])
    headers = sum(circuit["header_bytes_sent"] for run in of for circuit in run["circuits"])
    return Gap(
        upper_bound(20e-7) - fmean(runs.goodput(scheme, "KB/s")),
        repeats * (MTU_BYTES - HEADER_BYTES) * 1e-3 / seconds,
        headers * 1e-3 / seconds,
    )
