"""Series of round trips with a known air beneath them, and without any."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from airtcp import Scenario
from airtcp.fit.measurement import Floats
from airtcp_studies.calibration.probes import datagrams

PROBE_S = 0.021
"""A rate of 32 kbit/s in probes of 84 bytes."""
WIFI = """
duration = "{duration}s"
[[medium]]
name = "air"
kind = "wifi"
standard = "n"
[[link]]
name = "air"
from = "access-point"
to = "here"
medium = "air"
loss = {{ packet = "{errors}%" }}
[[link]]
name = "tap"
from = "here"
to = "there"
rate = "100Gbit/s"
{others}
[[flow]]
name = "measured"
from = "access-point"
to = "there"
traffic = {{ kind = "bytes", size = "1000B" }}
[[flow]]
name = "probe"
from = "access-point"
to = "there"
start = "0s"
traffic = {{ kind = "udp", rate = "32kbit/s", packet = "84B" }}
"""
OTHER = """
[[link]]
name = "other{number}"
from = "access-point"
to = "station{number}"
medium = "air"
[[flow]]
name = "other{number}"
from = "station{number}"
to = "access-point"
traffic = {{ kind = "udp", rate = "{rate}", packet = "1500B" }}
"""


def written(rtt: Floats, grain_s: float) -> Floats:
    """Round trips as a log of that grain has them."""
    return np.round(rtt / grain_s) * grain_s


def over_wifi(seed: int, n: int, folder: Path, *, errors: int, stations: int = 0, rate: str = "") -> Floats:
    """Round trips of pings over a simulated Wi-Fi hop and 20 ms, by a host whose clock is good to 20 µs."""
    others = "".join(OTHER.format(number=number, rate=rate) for number in range(stations))
    scenario = Scenario.parse(WIFI.format(duration=(n + 20) * PROBE_S, errors=errors, others=others))
    ways = []
    for way in range(2):
        capture = folder / "probes.pcapng"
        scenario.run("cubic", 2 * seed + way, pcap=str(capture), pcap_link="tap")
        times = np.array([time_s for time_s, _ in datagrams(capture.read_bytes())])
        ways.append((times - PROBE_S * np.floor(times / PROBE_S + 1e-9))[:n])
    late = np.abs(np.random.default_rng(seed).normal(0, 2e-5, n))
    rtt: Floats = 0.02 + ways[0] + ways[1] + late
    return rtt


def over_lte(seed: int, n: int, *, request_s: float, errors: float, base_s: float = 0.04) -> Floats:
    """The wait for a scheduling request's turn, HARQ's steps of 8 ms, and a clock good to 0.2 ms."""
    random = np.random.default_rng(seed)
    steps = 0.008 * (random.geometric(1 - errors, n) - 1)
    rtt: Floats = base_s + request_s * random.random(n) + steps + random.normal(0, 2e-4, n)
    return rtt


def in_slots(
    seed: int, time: Floats, *, period_s: float = 15.0, phase_s: float = 0.0, step_s: float = 0.004
) -> Floats:
    """A level drawn anew each period, and 3 ms of jitter above it."""
    random = np.random.default_rng(seed)
    slot = np.floor((time - phase_s) / period_s).astype(np.int64)
    levels = random.normal(0, step_s, int(np.ptp(slot)) + 1)[slot - slot.min()]
    rtt: Floats = 0.045 + levels + np.abs(random.normal(0, 0.003, len(time)))
    return rtt


def without_air(seed: int, n: int) -> Iterator[tuple[str, Floats]]:
    """Round trips that no air made, of random scale: each kind of jitter by its name."""
    random = np.random.default_rng(seed)
    scale = 10 ** random.uniform(-4, -1.8)
    yield "normal", 0.1 + random.normal(0, scale, n)
    yield "uniform", 0.03 + 3 * scale * random.random(n)
    yield "triangular", 0.03 + scale * (random.random(n) + random.random(n))
    yield "log-normal", 0.03 + scale * random.lognormal(0, random.uniform(0.3, 1.2), n)
    yield "exponential", 0.03 + random.exponential(scale, n)
    score = autoregressive(random, n)
    yield "autoregressive", 0.1 + scale * score
    yield "log-normal, autoregressive", 0.03 + scale * np.exp(score)
    yield "M/M/1", 0.03 + queued(random, n, lambda packets: random.exponential(scale, packets), scale)
    yield "M/D/1", 0.03 + queued(random, n, lambda packets: np.full(packets, scale), scale)


def autoregressive(random: np.random.Generator, n: int) -> Floats:
    memory = random.uniform(0.3, 0.98)
    score = random.normal(size=n)
    for place in range(1, n):
        score[place] = memory * score[place - 1] + np.sqrt(1 - memory**2) * score[place]
    return score


def queued(random: np.random.Generator, n: int, service: Callable[[int], Floats], mean_s: float) -> Floats:
    """The wait of probes in a queue of Poisson traffic, by Lindley's recursion, and a clock good to 50 µs."""
    packets = 20 * n
    gaps = random.exponential(mean_s / random.uniform(0.2, 0.9), packets)
    takes, came = service(packets), np.cumsum(gaps)
    walk = np.concatenate([[0.0], np.cumsum(takes[:-1] - gaps[1:])])
    waits = walk - np.minimum.accumulate(walk)
    probes = np.linspace(came[10], came[-1], n)
    last = np.searchsorted(came, probes) - 1
    left = np.maximum(0.0, waits[last] + takes[last] - (probes - came[last]))
    answer: Floats = left + random.normal(0, 5e-5, n)
    return answer
