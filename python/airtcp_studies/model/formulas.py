"""The papers' closed forms of a window, a throughput or a queue.

Each function is one formula, in the units of its paper, against which a simulation is compared. `airtcp
model` prints both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def packet_error_rate(ber: float, packet_bytes: float) -> float:
    """Returns 1 − (1 − BER)^(8·PS), for independent bit errors."""
    return 1.0 if ber == 1 else -math.expm1(8 * packet_bytes * math.log1p(-ber))


def packet_error_rate_first_order(ber: float, packet_bytes: float) -> float:
    """Returns BER·PS·8 (paper 000, eq. 1), which may exceed 1 and is then no probability."""
    return ber * packet_bytes * 8


def maximum_allowable_window(error_rate: float) -> float:
    """Returns W in packets, from 3/8·W² + 3/4·W = 1/PER (paper 000, eq. 2).

    A cycle from one loss to the next sends that many packets while the window grows from W/2 to W, by a
    packet per round trip.
    """
    return math.sqrt(1 + 8 / (3 * error_rate)) - 1


def maximum_allowable_throughput(window: float, packet_bytes: float, rtt_s: float) -> float:
    """Returns MAT = (3/4·W + 3/2)·PS/RTT in bytes per second (paper 000, eq. 3).

    These are the packets of one cycle (`maximum_allowable_window`) over its W/2 round trips.
    """
    return (0.75 * window + 1.5) * packet_bytes / rtt_s


def goodput_bound(throughput: float, error_rate: float, packet_bytes: float, header_bytes: float) -> float:
    """Returns the largest useful part of `throughput`, in its unit (paper 000, §8.3).

    It excludes packets in error and the headers of the others.
    """
    return throughput * (1 - error_rate) * (1 - header_bytes / packet_bytes)


def decoupling_gain(mtu_bytes: float, header_packet_bytes: float) -> float:
    """Returns √(MTU/HP_Sz) (paper 000, §7).

    W is proportional to 1/√PER, and PER to the size of the packets whose loss shrinks it. Valid for large
    W.
    """
    return math.sqrt(mtu_bytes / header_packet_bytes)


def decoupling_gain_at(ber: float, mtu_bytes: float, header_packet_bytes: float) -> float:
    """Returns the gain by eqs 1 to 3 of paper 000, without the approximation for rare errors.

    It is the MAT of packets of `mtu_bytes` with a window set by the loss of packets of
    `header_packet_bytes`, over that with a window set by their own loss.
    """

    def throughput(lost_bytes: float) -> float:
        window = maximum_allowable_window(packet_error_rate_first_order(ber, lost_bytes))
        return maximum_allowable_throughput(window, mtu_bytes, 1)

    return throughput(header_packet_bytes) / throughput(mtu_bytes)


def red_marking_probability(
    average: float, min_threshold: float, max_threshold: float, max_probability: float
) -> float:
    """Returns p at an average queue of `average` packets (paper 002, eq. 2)."""
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
    """Returns Q̄max in packets (paper 002, eq. 8) for flows of these windows in packets: minth + Σ(βᵢ +
    w).

    RED's average queue rises so far while the first mark is in flight; it is thus the lowest maximum
    threshold without packet loss. βᵢ, eq. 4, is how often flow i's window grows until then, by a packet
    per round trip: 1/(λᵢ·rᵢ) = 1/(p·Wᵢ), as it is marked λᵢ = p·Wᵢ/rᵢ times a second (§III-B).

    Without a marking `probability` p, it is that of eq. 2 at Q̄max itself. The paper does not say at which
    average it takes p; this is the only reading without a further number, and gives the lowest Q̄max of
    all. With x = Q̄max − minth and m flows, eq. 8 is x² − m·w·x − (maxth − minth)/maxp·Σ1/Wᵢ = 0. If the
    result exceeds maxth, packets are lost before the first mark.
    """
    increments = sum(1 / window for window in windows)
    if probability is not None:
        return min_threshold + increments / probability + len(windows) * weight
    half = weight * len(windows) / 2
    slope = (max_threshold - min_threshold) / max_probability
    return min_threshold + half + math.sqrt(half * half + slope * increments)


def slot_shares(stations: int, cw_min: int, cw_max: int, attempts: int) -> tuple[float, float, float]:
    """Returns the share of slots in which nobody sends, that in which one station sends alone, and the
    probability that a transmission collides, in a saturated 802.11 cell.

    A station sends in a slot with probability τ(p) = Σ pⁱ / Σ pⁱ·(Wᵢ + 1)/2, where
    Wᵢ = min(2ⁱ·(CWmin + 1), CWmax + 1) and i runs over the attempts (Bianchi 2000, with the retry limit of
    Wu et al. 2002), and p = 1 − (1 − τ)^(n − 1).
    """

    def sends(collided: float) -> float:
        weights = [math.pow(collided, stage) for stage in range(attempts)]
        windows = [min((cw_min + 1) << stage, cw_max + 1) for stage in range(attempts)]
        return sum(weights) / sum(
            weight * (window + 1) / 2 for weight, window in zip(weights, windows, strict=True)
        )

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if 1 - (1 - sends(middle)) ** (stations - 1) > middle:
            low = middle
        else:
            high = middle
    tau = sends(low)
    return (1 - tau) ** stations, stations * tau * (1 - tau) ** (stations - 1), low
