"""Detects rare stretches of much longer round trips: spikes, and stalls that end with all answers at once.

In a stall, each round trip is shorter than the one before by the time between them: packets wait for the end
of an outage. In a spike, all packets are late by about as much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from airtcp.fit.findings import Value
from airtcp.fit.measurement import Flags, Floats

FAR = 4.5
"""Standard deviations of the logarithm above its median from which a round trip belongs to an episode."""
MULTIPLE = 4.0
"""An episode's round trip exceeds the lowest by at least this multiple of the median excess."""
LEAST_EXTRA_S = 0.02
RARE = 0.05
"""Episodes with more than this share of the round trips are normal behaviour of the path."""
FEW = 20


@dataclass(frozen=True)
class Episode:
    """Spikes or stalls."""

    count: int
    every_s: Value
    """Mean time from the end of one to the start of the next."""
    length_s: float
    extra_s: float
    """Excess over the usual round trip: the median of spikes, the longest of stalls."""
    single: bool
    """Each covered only one packet: episodes may be shorter and more frequent."""


def separate(time: Floats, rtt: Floats) -> tuple[Flags, Episode | None, Episode | None]:
    """Separates calm round trips from spikes and stalls. Times must be ascending."""
    far = _far(rtt)
    if not far.any():
        return ~far, None, None
    runs = _runs(far)
    spacing = float(np.median(np.diff(time)))
    usual = float(np.median(rtt[~far]))
    stalls = [run for run in runs if _is_stall(time[run], rtt[run], spacing)]
    spikes = [run for run in runs if run not in stalls]
    span = max(float(time[-1] - time[0]), spacing)
    return (
        ~far,
        _spikes(spikes, rtt - usual, spacing, span),
        _stalls(stalls, rtt - usual, spacing, span),
    )


def _far(rtt: Floats) -> Flags:
    nothing = np.zeros(len(rtt), dtype=np.bool_)
    if len(rtt) < FEW:
        return nothing
    least = float(rtt.min())
    above = rtt - least
    median = float(np.median(above))
    floor = max(1e-6, 1e-3 * least, 0.05 * median)
    logs = np.log(above + floor)
    middle = float(np.median(logs))
    # 1.4826 times the median distance is the standard deviation of a normal distribution.
    spread = max(0.15, 1.4826 * float(np.median(np.abs(logs - middle))))
    far: Flags = (logs > middle + FAR * spread) & (above > max(MULTIPLE * median, LEAST_EXTRA_S))
    return far if far.mean() <= RARE else nothing


def _runs(far: Flags) -> list[slice]:
    edges = np.diff(np.concatenate(([0], far.astype(np.int8), [0])))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return [slice(int(start), int(end)) for start, end in zip(starts, ends, strict=True)]


def _is_stall(time: Floats, rtt: Floats, spacing: float) -> bool:
    if len(rtt) < 2:
        return False
    apart = np.diff(time + rtt)
    return bool(np.median(np.abs(apart)) < spacing / 4)


def _spikes(runs: list[slice], above: Floats, spacing: float, span: float) -> Episode | None:
    if not runs:
        return None
    sizes = [run.stop - run.start for run in runs]
    inside = np.concatenate([above[run] for run in runs])
    length = spacing * float(np.mean(sizes))
    return _episode(len(runs), length, float(np.median(inside)), span, max(sizes) == 1)


def _stalls(runs: list[slice], above: Floats, spacing: float, span: float) -> Episode | None:
    if not runs:
        return None
    longest = [float(above[run].max()) for run in runs]
    # On average, the first packet of a stall was sent half a spacing after its beginning.
    length = float(np.mean(longest)) + spacing / 2
    return _episode(len(runs), length, max(longest), span, False)


def _episode(count: int, length: float, extra: float, span: float, single: bool) -> Episode:
    from scipy.special import gammaincinv  # noqa: PLC0415 slow to import

    free = max(span - count * length, span / 100)
    # Garwood's interval for the mean of a Poisson count.
    fewest, most = float(gammaincinv(count, 0.025)), float(gammaincinv(count + 1, 0.975))
    return Episode(count, Value(free / count, free / most, free / fewest), length, extra, single)
