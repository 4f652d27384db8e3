"""The papers' closed forms: what a window, a throughput or a queue must come to, on paper.

Each function is one formula, in the units of its paper: a simulation is what it is to be held against.
`airtcp model` prints both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def packet_error_rate(ber: float, packet_bytes: float) -> float:
    """1 − (1 − BER)^(8·PS), for bit errors that know nothing of each other."""
    return 1.0 if ber == 1 else -math.expm1(8 * packet_bytes * math.log1p(-ber))


def packet_error_rate_first_order(ber: float, packet_bytes: float) -> float:
    """BER·PS·8 (paper 000, eq. 1). May exceed 1, where it is no probability any more."""
    return ber * packet_bytes * 8


def maximum_allowable_window(error_rate: float) -> float:
    """W in packets, of 3/8·W² + 3/4·W = 1/PER (paper 000, eq. 2).

    A cycle from one loss to the next sends so many packets while the window grows from W/2 to W, a packet a
    round trip.
    """
    return math.sqrt(1 + 8 / (3 * error_rate)) - 1


def maximum_allowable_throughput(window: float, packet_bytes: float, rtt_s: float) -> float:
    """MAT = (3/4·W + 3/2)·PS/RTT in bytes a second (paper 000, eq. 3).

    The packets of one cycle (`maximum_allowable_window`) over the W/2 round trips that it lasts.
    """
    return (0.75 * window + 1.5) * packet_bytes / rtt_s


def goodput_bound(throughput: float, error_rate: float, packet_bytes: float, header_bytes: float) -> float:
    """What of `throughput` is useful at best, in its unit (paper 000, §8.3).

    That is less the packets in error, and less the headers of each.
    """
    return throughput * (1 - error_rate) * (1 - header_bytes / packet_bytes)


def decoupling_gain(mtu_bytes: float, header_packet_bytes: float) -> float:
    """√(MTU/HP_Sz) (paper 000, §7).

    W goes as 1/√PER, and PER as the size of the packets whose loss shrinks it. Holds where W is large.
    """
    return math.sqrt(mtu_bytes / header_packet_bytes)


def decoupling_gain_at(ber: float, mtu_bytes: float, header_packet_bytes: float) -> float:
    """The same by eqs 1 to 3 of paper 000, without the simplification for rare errors.

    The MAT of packets of `mtu_bytes` under a window that is set by the loss of packets of
    `header_packet_bytes`, over that under a window set by their own loss.
    """

    def throughput(lost_bytes: float) -> float:
        window = maximum_allowable_window(packet_error_rate_first_order(ber, lost_bytes))
        return maximum_allowable_throughput(window, mtu_bytes, 1)

    return throughput(header_packet_bytes) / throughput(mtu_bytes)


def red_marking_probability(
    average: float, min_threshold: float, max_threshold: float, max_probability: float
) -> float:
    """p at an average queue of `average` packets (paper 002, eq. 2)."""
    share = (average - min_threshold) / (max_threshold - min_threshold)
    return max_probability * max(share, 0.0) if share < 1 else 1.0


def red_maximum_average_queue(
    min_threshold: float,
    max_threshold: float,
    max_probability: float,
    weight: float,
    windows: Sequence[float],
    probability: float | None = None,
) -> float:
    """Q̄max in packets (paper 002, eq. 8) for flows of these windows in packets: minth + Σ(βᵢ + w).

    How high RED's average queue rises while the first mark is on its way, and so the least maximum threshold
    that loses no packet. βᵢ, eq. 4, is how often flow i's window grows until then, a packet a round trip:
    1/(λᵢ·rᵢ) = 1/(p·Wᵢ), as it is marked λᵢ = p·Wᵢ/rᵢ times a second (§III-B).

    Without a marking `probability` p, it is that of eq. 2 at Q̄max itself. The paper does not say at which
    average it takes p; this is the one reading that needs no further number, and the least Q̄max of all. With
    x = Q̄max − minth and m flows, eq. 8 is x² − m·w·x − (maxth − minth)/maxp·Σ1/Wᵢ = 0. Where it comes out
    above maxth, packets are lost before the first mark.
    """
    increments = sum(1 / window for window in windows)
    if probability is not None:
        return min_threshold + increments / probability + len(windows) * weight
    half = weight * len(windows) / 2
    slope = (max_threshold - min_threshold) / max_probability
    return min_threshold + half + math.sqrt(half * half + slope * increments)
